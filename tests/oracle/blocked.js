// blocked.js - an event loop with timers and files, and workers that wait in memory
'use strict';
const fs = require('fs');
const { Worker, isMainThread } = require('worker_threads');

if (isMainThread)
	for (let i = 0; i < 3; i++) new Worker(__filename);

const cell = new Int32Array(new SharedArrayBuffer(4));

function again(n) {
	setTimeout(() => again(n + 1), 2 + n % 5);
	fs.readFile(__filename, () => {});
	if (!isMainThread && n % 3 === 0)
		Atomics.wait(cell, 0, 0, 4);
}

again(0);
