"""The README's library example runs as printed."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_library_example(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})

    assert "(201, 40)" in capsys.readouterr().out
