#!/usr/bin/env python3
"""Writes the test vectors of this folder: inputs exact in float32, results in high precision.

    generate.py           writes the files, removes those that no case makes any more
    generate.py --check   exits with 1 and names the file when a committed file differs

Only the standard library is used, and nothing of the code under test. README.md explains the format.
"""

import json
import sys
from pathlib import Path

import normal_draws
import row_statistics
import wide_cases
from attention import RELATIVE, attention, shape_of
from cases import cases
from gradients import gradients
from exact import LARGEST_FLOAT32, as_json, is_float32, short_float32

FOLDER = Path(__file__).parent
VERSION = 1


def bound_of(stage, cells):
    """{absolute, relative} in units of eps, rounded up to three digits."""
    relative = stage in RELATIVE
    # Infinities and NaN are compared as they are.
    finite = [c for c in cells if c.value.is_finite() and abs(c.value) <= LARGEST_FLOAT32]
    worst = max(
        ((c.error / c.size if c.size else 0.0) if relative else c.error for c in finite),
        default=0.0,
    )
    worst = float(f"{worst * 1.005:.3g}")
    return {"absolute": 0 if relative else worst, "relative": worst if relative else 0}


def vector(name, about, config, inputs, mask=None, past=None):
    expected = {}
    stages = attention(config, inputs, mask, past)
    if config.get("gradients"):
        stages |= gradients(config, inputs, stages)
    for stage, nested in stages.items():
        cells = [cell for batch in nested for head in batch for row in head for cell in row]
        shape = shape_of(stage, config)
        assert len(cells) == shape[0] * shape[1] * shape[2] * shape[3], (name, stage)
        expected[stage] = {
            "shape": shape,
            "eps": bound_of(stage, cells),
            "data": [as_json(cell.value) for cell in cells],
        }
    for stage, flat in inputs.items():
        assert all(not number.is_finite() or is_float32(number) for number in flat), (name, stage)
    extras = {}
    if mask:
        extras["mask"] = mask | {"values": [short_float32(number) for number in mask["values"]]}
    if past:
        extras["past"] = {stage: [short_float32(number) for number in flat] for stage, flat in past.items()}
    return {
        "version": VERSION,
        "producer": "tests/vectors/generate.py",
        "name": name,
        "about": about,
        "config": config,
        "inputs": {stage: [short_float32(number) for number in flat] for stage, flat in inputs.items()},
        **extras,
        "expected": expected,
    }


def text_of(vector):
    """JSON with one line for each member of `inputs`, `past` and `expected`."""

    def line(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    members = []
    for key, value in vector.items():
        if key in ("inputs", "past", "expected"):
            inner = ",\n".join(f"    {line(name)}: {line(item)}" for name, item in value.items())
            members.append(f"  {line(key)}: {{\n{inner}\n  }}")
        else:
            members.append(f"  {line(key)}: {line(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def check_schema(value, schema, place):
    """The few words of JSON Schema that schema.json uses."""
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int,
             "boolean": bool}
    if "anyOf" in schema:
        if not any(fits(value, option, place) for option in schema["anyOf"]):
            raise ValueError(f"{place} fits no alternative: {value!r}")
        return
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        raise ValueError(f"{place} is no {schema['type']}: {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{place} is not one of {schema['enum']}: {value!r}")
    for name in schema.get("required", []):
        if name not in value:
            raise ValueError(f"{place} lacks {name}")
    if isinstance(value, dict):
        for name, item in value.items():
            rest = schema.get("additionalProperties", {})
            inner = schema.get("properties", {}).get(name, rest)
            if inner is False:
                raise ValueError(f"{place} has an unknown member {name}")
            check_schema(item, inner, f"{place}.{name}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            check_schema(item, schema.get("items", {}), f"{place}[{index}]")


def fits(value, schema, place):
    try:
        check_schema(value, schema, place)
    except ValueError:
        return False
    return True


def main(arguments):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    texts = {}
    for case in (*cases(), *wide_cases.cases()):
        made = vector(*case)
        check_schema(made, schema, made["name"])
        texts[f"{made['name']}.json"] = text_of(made)
    for module in (row_statistics, normal_draws):
        for name, items in module.files():
            lines = ",\n".join(json.dumps(item, ensure_ascii=False, allow_nan=False) for item in items)
            texts[name] = f"[\n{lines}\n]\n"
    present = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.json")} - {"schema.json"}
    if arguments == ["--check"]:
        wrong = sorted(present - texts.keys())
        wrong += [
            name for name, text in texts.items()
            if name not in present or (FOLDER / name).read_text(encoding="utf-8") != text
        ]
        for name in wrong:
            print(f"{name} is not what generate.py writes; run tests/vectors/generate.py")
        return 1 if wrong else 0
    if arguments:
        print(__doc__)
        return 2
    for name in present - texts.keys():
        (FOLDER / name).unlink()
    for name, text in texts.items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} vectors, {sum(map(len, texts.values())) // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
