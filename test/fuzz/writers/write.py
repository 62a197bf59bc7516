"""Writes documents into files: `write.py <writer>` takes lines of JSON, {"path", "document"}, from its standard input.

It answers each with a line of JSON: {} or {"lost": characters that the encoding of the file does not have}. It ends with
status 3 and a reason where a library is absent.
"""

import importlib
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def main():
    try:
        module = importlib.import_module(sys.argv[1])
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    for line in sys.stdin.buffer:
        task = json.loads(line)
        lost = module.write(task["document"], task["path"])
        print(json.dumps({"lost": "".join(lost or [])}), flush=True)


main()
