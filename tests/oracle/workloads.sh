#!/bin/sh
# workloads.sh DIR - what the programs under the oracle work on: made once, the same every time
set -eu
dir=${1:?usage: workloads.sh DIR}
mkdir -p "$dir"
cd "$dir"

if [ ! -s big.c ]; then
	awk 'BEGIN {
		print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
		for (i = 0; i < 400; i++) {
			printf "struct s%d { int a[%d]; double d; char *t; };\n", i, i % 9 + 2
			printf "int f%d(struct s%d *s, int n, double x)\n{\n\tint sum = %d;\n", i, i, i
			printf "\tfor (int i = 0; i < n; i++) {\n\t\tfor (int j = 0; j < %d; j++)\n", i % 9 + 2
			print "\t\t\tsum += s[i].a[j] * (j ^ n) - (int)(s[i].d * x);"
			print "\t\tswitch (sum & 7) {\n\t\tcase 0: sum ^= n; break;\n\t\tcase 1: sum -= 3; break;"
			print "\t\tcase 2: if (s[i].t) sum += (int)strlen(s[i].t); break;\n\t\tdefault: sum++; }"
			print "\t}"
			if (i) printf "\tif (sum > 1000) sum -= f%d((void *)s, n / 2, x + 1);\n", i - 1
			print "\treturn sum;\n}"
		}
		print "int main(void) { return f399(calloc(99, 99), 9, 1.5); }"
	}' > big.c.new
	mv big.c.new big.c
fi

if [ ! -s data ]; then
	awk 'BEGIN { srand(1); for (i = 0; i < 1500000; i++) print int(rand() * 99999), i % 97 }' > data.new
	mv data.new data
fi

if [ ! -d repo/.git ]; then
	rm -rf repo
	git init -q repo
	(
		cd repo
		git config user.name oracle
		git config user.email oracle@localhost
		git config gc.auto 0
		for i in $(seq 1 60); do
			awk -v i="$i" 'BEGIN { for (k = 0; k < 4000; k++) if ((k * i) % 37) print k, (k * 7919 + (k % 60 < i ? i : 0)) % 10007 }' > text
			awk -v i="$i" 'BEGIN { for (k = 0; k < 900; k++) print "line", k, k % i }' > "file$((i % 7))"
			git add -A
			git commit -q -m "change $i"
		done
	)
fi
