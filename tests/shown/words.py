"""What the texts of `texts` are made of; `SIGNED` words are to be seen with every sign."""

# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from typing import Final

ENGLISH: Final = (
    "the of and a to in is you that it he was for on are as with his they I at be this have from "
    "answer table column server request token cache Python result value index model error config "
    "It's don't e.g. Note: finally, however, (see) first; second: third! really? 'quoted' \"said\""
).split(" ")
WIDE: Final = (
    *(
        "注意",
        "配置文件",
        "请先安装",
        "重要",
        "结果是",
        "第一步",
        "数据库",
        "运行。",
        "好的，",
        "使用说明：",
    ),
    *("これは", "テスト", "設定", "ファイル", "「引用」", "です。", "データ、", "インストール"),
    *("한국어", "설정을", "파일", "입니다.", "중요:"),
)
THAI: Final = ("ภาษาไทย", "น้ำ", "ข้อมูล", "เริ่มต้น", "สำคัญ")
OTHERS: Final = (
    *("привет", "данные", "ошибка", "naïve", "café", "Straße", "Ελλάδα", "résumé"),
    *("مرحبا", "بيانات", "שלום", "נתונים", "नमस्ते", "डेटा"),
)
EMOJI: Final = ("😀", "👍🏽", "👨‍👩‍👧", "🇩🇪", "❤️", "✅", "⚠️", "🚀", "1️⃣")
NUMBERS: Final = ("1", "42", "3.14", "1,000", "50%", "10:30", "2024-01-31", "v1.2.3", "#12", "1st")

SUMS: Final = (
    *("100*100/400*56", "2**10", "5*3*2", "f(x)*g(y)", "a*b", "x**2+y**2", "(4+5)*2", "1e6*n"),
    *("2*3=6", "n*(n+1)/2", "60*60*24", "i**2", "a[i]*b[j]", "2^10", "x_1*x_2", "10%3"),
)
NAMES: Final = (
    *(
        "__init__",
        "__main__",
        "__init__.py",
        "__MAX_SIZE__",
        "__name__",
        "snake_case_name",
        "std_io",
    ),
    *("self.__dict__", "__proto__", "MAX_SIZE", "foo_bar_baz.py", "obj.__class__.__name__"),
    *("Dict[str,int]", "list[int]", "vector<int>", "std::map", "args[0][1]", "user_name@host_name"),
)
PATHS: Final = (
    *(r"C:\Users\me", r"C:\_build\x", r"D:\data\[old]\a", r"\d+\.\d+", r"^\w+\s+\d", r"a\.b\.c\d"),
    *("/usr/local/bin", "~/.config/app", "./run.sh", "../up_one/x_y", "src/main.py"),
    *(r"x\\server\share", r"(\b\w+\b)", "$HOME/bin", "%APPDATA%", "--dry-run", "-v", "a/b/c_d_e"),
)
FILES: Final = ("README.md", "main.py", "setup.cfg", "index.html", "run.sh", "lib.rs", "a_b.txt")
OPERATORS: Final = (
    "a||b",
    "x||y||z",
    "(a||b)",
    "a && b",
    "a || b || c",
    "if(!ok||n>0)",
    "x|y",
    "p->q",
)
COMPARISONS: Final = (
    "1 < 2",
    "a <= b",
    "x > y",
    "a<b",
    "n>=0",
    "T<U>",
    "<=>",
    "=>",
    "->",
    "i<n && j>m",
)
ADDRESSES: Final = (
    *("https://example.org/a_b_c", "https://medium.com/@user/post", "http://x.org/?a=1&b=2"),
    *("https://en.wikipedia.org/wiki/C_(language)", "https://example.com/path#part-2"),
    *(
        "https://example.org/~user/__init__.py",
        "https://a.example.co.uk/x*y",
        "https://example.net",
    ),
)
MENTIONS: Final = (
    "@here/harp-mapview",
    "npm i @angular/core",
    "@username",
    "mail@example.org",
    "@dataclass",
)
MONEY: Final = (
    "$5",
    "$10-$20",
    "US$3",
    "$1,000",
    "costs $5 and $6",
    "5$",
    "~$20",
    "~100",
    "~5 or ~6",
)
SIGNED: Final = (SUMS, NAMES, PATHS, OPERATORS, COMPARISONS, ADDRESSES, MONEY)

REFERENCES: Final = (
    "&amp;",
    "&lt;b&gt;",
    "&nbsp;",
    "&copy;",
    "caf&eacute;",
    "&#65;",
    "&#x42;",
    "&mdash;",
    "&alpha;",
)
TAGS: Final = (
    *("<b>bold</b>", "<br>", "<br/>", "H<sub>2</sub>O", "<kbd>Ctrl</kbd>", "x<sup>2</sup>"),
    *(
        '<a href="https://example.org/x">here</a>',
        "<!-- note -->",
        "<div>inside</div>",
        "<details>",
    ),
    *("</details>", "<summary>More</summary>", '<img src="a.png" alt="cat">', "<T>", "<your-name>"),
)
TEX: Final = (
    *(r"x^2", r"\frac{a}{b}", r"\alpha + \beta", r"\sqrt{x+1}", r"e^{i\pi} + 1 = 0", r"a_{ij} b_j"),
    *(
        r"\sum_{i=1}^{n} i",
        r"\int_0^1 x^2\,dx",
        r"\mathbb{R}^n",
        r"f(x) = 2x * 3",
        r"\text{if } x > 0",
    ),
    *(r"x_1 * x_2", r"\left( \frac{1}{2} \right)", r"p \leq q", r"a \cdot b", r"E = mc^2"),
)
CODE: Final = (
    *(
        "x = 1",
        "print('a*b')",
        'git commit -m "x"',
        "a|b",
        "**kw",
        "__init__",
        "<T>",
        "a || b",
        "[x](y)",
    ),
    *(
        "&amp;",
        r"\n",
        r"C:\x",
        "$HOME",
        "f(`x`)",
        "@here",
        "* not a list",
        "# no heading",
        "1. no",
        "中文",
    ),
)
LINES: Final = (
    *(
        "def f(*args, **kwargs):",
        "    return args[0] ** 2",
        "for i in range(10):",
        "#include <stdio.h>",
    ),
    *(
        "SELECT * FROM t WHERE a_b = 'c';",
        "  - name: x",
        "| a | b |",
        "$ pip install x",
        "// 注释",
        "",
    ),
    *(
        "if (a || b) { return *p; }",
        "> quoted",
        "- item",
        "~~~",
        "# comment",
        "\tindented",
        "x = [1](2)",
    ),
)
LANGUAGES: Final = ("", "python", "js", "bash", "c++", "text", "yaml", "sql", "objective-c", "diff")
