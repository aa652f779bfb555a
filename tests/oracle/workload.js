// workload.js - code that V8 compiles, garbage, regular expressions, sorting
'use strict';

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function turn() {
	const list = [];
	for (let i = 0; i < 3000; i++)
		list.push({ key: `k${(i * 7919) % 1009}`, value: i });
	list.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.value - b.value));
	const text = JSON.stringify(list);
	JSON.parse(text);
	return fib(18) + text.replace(/k(\d+)/g, (all, digits) => digits).length;
}

for (;;) turn();
