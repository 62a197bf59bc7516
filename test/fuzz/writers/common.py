"""What all writers share: how a run is asked for, and characters that an encoding lacks."""


def text_of(runs):
    return "".join(run["text"] for run in runs)


def cells_of(table):
    """The cells of a table with their places: (row, column, height, width, runs)."""
    taken = set()
    for y, row in enumerate(table["rows"]):
        x = 0
        for cell in row:
            while (y, x) in taken:
                x += 1
            width, height = cell.get("columns", 1), cell.get("rows", 1)
            taken.update((y + down, x + right) for down in range(height) for right in range(width))
            yield y, x, height, width, cell["runs"]
            x += width


def width_of(table):
    return sum(cell.get("columns", 1) for cell in table["rows"][0])


class Encodable:
    """Leaves out what an encoding lacks, and remembers it."""

    def __init__(self, encoding):
        self.encoding = encoding
        self.lost = set()

    def __call__(self, text):
        kept = []
        for character in text:
            try:
                character.encode(self.encoding)
                kept.append(character)
            except UnicodeEncodeError:
                self.lost.add(character)
        return "".join(kept)
