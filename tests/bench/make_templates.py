#!/usr/bin/env python3
"""Writes a C++ program full of templates, lambdas and inlined calls.

usage: make_templates.py [--units N] [--kinds N] [--work N] DIR

DIR gets unit0.cc ... and main.cc; all of it is decided by the numbers.  Built with -O2 -g it is a
program as C++ programs are: most of its code is inlined, from the library and from itself.  It
uses CPU for --work rounds.
"""
import argparse
import os

HEAD = """// Made by make_templates.py.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace unit{unit} {{
template <typename T, int N> struct Matrix {{
\tT cell[N][N];
\tT &at(int row, int column) {{ return cell[row % N][column % N]; }}
\tMatrix operator*(const Matrix &other) const
\t{{
\t\tMatrix result = {{}};
\t\tfor (int i = 0; i < N; i++)
\t\t\tfor (int j = 0; j < N; j++)
\t\t\t\tfor (int k = 0; k < N; k++)
\t\t\t\t\tresult.cell[i][j] += cell[i][k] * other.cell[k][j];
\t\treturn result;
\t}}
\ttemplate <typename F> void each(F &&f)
\t{{
\t\tfor (auto &row : cell)
\t\t\tfor (auto &one : row)
\t\t\t\tf(one);
\t}}
}};

template <int N> struct Fold {{
\tstatic long of(const std::vector<long> &values, long seed)
\t{{
\t\treturn Fold<N - 1>::of(values, seed * 31 + values[N % values.size()]);
\t}}
}};
template <> struct Fold<0> {{
\tstatic long of(const std::vector<long> &, long seed) {{ return seed; }}
}};

template <typename K, typename V> class Index {{
\tstd::unordered_map<K, std::vector<V>> held;

public:
\tvoid add(const K &key, V value) {{ held[key].push_back(std::move(value)); }}
\ttemplate <typename F> auto pick(F &&wanted) const
\t{{
\t\tstd::vector<V> found;
\t\tfor (const auto &[key, values] : held)
\t\t\tstd::copy_if(values.begin(), values.end(), std::back_inserter(found), wanted);
\t\tstd::sort(found.begin(), found.end());
\t\treturn found;
\t}}
}};

struct Shape {{
\tvirtual ~Shape() = default;
\tvirtual double area() const = 0;
}};
"""

KIND = """
namespace {{
struct Only{kind} {{
\tstatic inline long turn(long x) {{ return (x << {shift}) ^ (x >> {back}); }}
}};
}} // namespace

struct Shape{kind} : Shape {{
\tdouble side;
\texplicit Shape{kind}(double x) : side(x) {{}}
\tdouble area() const override {{ return side * side * {kind}.25 + side; }}
}};

using Key{kind} = std::variant<int, std::string, Matrix<float, {size}>>;

static std::string name{kind}(const Key{kind} &key)
{{
\treturn std::visit(
\t\t[](const auto &held) -> std::string {{
\t\t\tusing T = std::decay_t<decltype(held)>;
\t\t\tif constexpr (std::is_same_v<T, int>)
\t\t\t\treturn std::to_string(held + {kind});
\t\t\telse if constexpr (std::is_same_v<T, std::string>)
\t\t\t\treturn held + "-{kind}";
\t\t\telse
\t\t\t\treturn std::to_string(held.cell[0][0]);
\t\t}},
\t\tkey);
}}

__attribute__((noinline)) long run{kind}(long seed)
{{
\tMatrix<double, {size}> a = {{}};
\tMatrix<long, {size}> b = {{}};
\tlong next = seed;
\ta.each([&next](double &one) {{ one = (double)((next = Only{kind}::turn(next) % 97)); }});
\tb.each([&next](long &one) {{ one = next++ % {kind}7; }});
\tauto c = a * a;
\tauto d = b * b;
\tIndex<std::string, long> index;
\tfor (int i = 0; i < {size}; i++)
\t\tindex.add(name{kind}(i % 2 ? Key{kind}(i) : Key{kind}(std::to_string(d.at(i, i)))), d.at(i, i + 1));
\tauto found = index.pick([seed](long one) {{ return one % 3 != seed % 3; }});
\tfound.push_back((long)c.at(1, 1));
\tstd::vector<std::unique_ptr<Shape>> shapes;
\tfor (long one : found)
\t\tshapes.push_back(std::make_unique<Shape{kind}>((double)one));
\tdouble area = std::accumulate(shapes.begin(), shapes.end(), 0.0,
\t\t[](double sum, const auto &shape) {{ return sum + shape->area(); }});
\tstd::function<long(long)> last = [&found, area](long x) {{
\t\tstruct Local {{
\t\t\tlong kept;
\t\t\tlong with(double y) const {{ return kept + (long)y % 1000; }}
\t\t}};
\t\treturn Local{{Fold<{depth}>::of(found, x)}}.with(area);
\t}};
\tstd::map<long, std::string> names;
\tfor (long one : found)
\t\tnames.emplace(one % 13, std::to_string(one));
\tfor (auto &[number, name] : names)
\t\tnext += number + (long)name.size();
\treturn last(next) % 1000003;
}}
"""


def write_unit(folder, unit, kinds):
    with open(os.path.join(folder, f"unit{unit}.cc"), "w", encoding="utf-8") as out:
        out.write(HEAD.format(unit=unit))
        for kind in range(1, kinds + 1):
            number = unit * kinds + kind
            out.write(KIND.format(kind=number, shift=number % 7 + 1, back=number % 5 + 1,
                                  size=number % 6 + 3, depth=number % 9 + 4))
        calls = " ".join(f"x = run{unit * kinds + kind}(x);" for kind in range(1, kinds + 1))
        out.write(f"\nlong all(long x) {{ {calls} return x; }}\n}} // namespace unit{unit}\n")


def write_main(folder, units, work):
    with open(os.path.join(folder, "main.cc"), "w", encoding="utf-8") as out:
        for unit in range(units):
            out.write(f"namespace unit{unit} {{ long all(long x); }}\n")
        calls = " ".join(f"x = unit{unit}::all(x + i);" for unit in range(units))
        out.write("#include <cstdlib>\nint main(int argc, char **argv)\n{\n"
                  f"\tlong x = argc, n = argc > 1 ? std::atol(argv[1]) : {work};\n"
                  f"\tfor (long i = 0; i < n; i++) {{ {calls} }}\n"
                  "\treturn x == 42;\n}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=8)
    parser.add_argument("--kinds", type=int, default=6)
    parser.add_argument("--work", type=int, default=2000)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    for unit in range(arguments.units):
        write_unit(arguments.folder, unit, arguments.kinds)
    write_main(arguments.folder, arguments.units, arguments.work)


if __name__ == "__main__":
    main()
