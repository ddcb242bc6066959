"""Translates Python's expressions into those of problem and space files."""

import ast
import math

import numpy

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd,
              ast.USub, ast.Not, ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt,
              ast.GtE, ast.In, ast.NotIn, ast.Load)
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Name, ast.Constant,
          ast.Tuple, ast.List, ast.Call) + _OPERATORS
_FUNCTIONS = {"min", "max", "abs"}
_MOST_CHARACTERS = 9000  # problem and space files allow 10,000 for one expression

#: Names, besides parameters, that the text of an expression may use.
GLOBALS = {"math": math, "np": numpy, "numpy": numpy}


def engine_expression(text, macros):
    """Translates `text` to an expression of problem and space files, or None if these cannot
    express it.

    `macros`: the macro of each parameter whose values are numbers.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            return None
        if isinstance(node, ast.Name):
            known = _FUNCTIONS if id(node) in functions else macros
            if node.id not in known:
                return None
            if id(node) not in functions:
                node.id = macros[node.id]
        elif isinstance(node, ast.Call) and (node.keywords or not isinstance(node.func, ast.Name)):
            return None
        elif isinstance(node, ast.Constant) and not isinstance(node.value, (bool, int, float)):
            return None
    written = ast.unparse(tree)
    return written if len(written) <= _MOST_CHARACTERS else None


def function_of(text):
    """Compiles the Python expression `text` to a function of a configuration."""
    compiled = compile(text.strip(), "<expression>", "eval")
    return lambda configuration: eval(compiled, dict(GLOBALS), dict(configuration))
