"""Expressions of evo-tune's files (docs/file-formats.md), evaluated while they are read."""

import math
import re

from .errors import Error

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)"
    r"|(\*\*|//|==|!=|<=|>=|&&|\|\||.)|$)", re.ASCII)
_COMPARISONS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def evaluate(text, values):
    """The value of an expression, a float. Raises Error where there is none."""
    try:
        return _Evaluation(text, values).run()
    except Error as error:
        raise Error(f"expression '{text}': {error}") from None
    except (OverflowError, RecursionError) as error:
        raise Error(f"expression '{text}': {error}") from None


class _Evaluation:
    """What does not count, such as the branch that ? does not take, is read with live off."""

    def __init__(self, text, values):
        self.text, self.values = text, values
        self.at, self.live = 0, True
        self.advance()

    def run(self):
        value = self.choice()
        if self.token:
            raise Error(f"at '{self.token}': an operator or the end is expected")
        return self.finite(value, "the value")

    def advance(self):
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise Error(f"cannot be read at position {self.at + 1}")
        self.number, self.name, other = found.groups()
        self.token = self.number or self.name or other or ""
        self.at = found.end()

    def take(self, *tokens):
        token = self.token
        if token not in tokens:
            return None
        self.advance()
        return token

    def expect(self, token):
        if not self.take(token):
            raise Error(f"at '{self.token}': '{token}' is expected")

    def read(self, rule, counts):
        outer = self.live
        self.live = outer and counts
        value = rule()
        self.live = outer
        return value

    def finite(self, value, what):
        if self.live and not math.isfinite(value):
            raise Error(f"{what} is not finite")
        return value

    def divided(self, a, b):
        if b == 0:
            if self.live:
                raise Error("division by zero")
            return 0.0
        return a / b

    def modulo(self, a, b):
        self.divided(a, b)
        if b == 0 or not math.isfinite(a):
            return math.nan
        rest = math.fmod(a, b)
        return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest

    def choice(self):
        condition = self.logical(self.conjunction, "||", "or", True)
        if not self.take("?"):
            return condition
        yes = self.read(self.choice, condition != 0)
        self.expect(":")
        no = self.read(self.choice, condition == 0)
        return yes if condition != 0 else no

    def conjunction(self):
        return self.logical(self.negation, "&&", "and", False)

    def logical(self, rule, symbol, word, deciding):
        value, is_truth, is_open = rule(), False, True
        while self.token in (symbol, word):
            is_truth = is_truth or (is_open and self.token == symbol)
            is_open = is_open and (value != 0) != deciding
            self.advance()
            following = self.read(rule, is_open)
            value = following if is_open else value
        return float(value != 0) if is_truth else value

    def negation(self):
        if self.take("not"):
            return float(self.negation() == 0)
        return self.comparison()

    def comparison(self):
        left = self.sum()
        if self.token not in _COMPARISONS and self.token not in ("in", "not"):
            return left
        holds = True
        while self.token in _COMPARISONS:
            compare = _COMPARISONS[self.take(*_COMPARISONS)]
            right = self.read(self.sum, holds)
            holds, left = holds and compare(left, right), right
        if self.token not in ("in", "not"):
            return float(holds)
        inverted = self.take("not") is not None
        self.expect("in")
        close = {"(": ")", "[": "]"}.get(self.take("(", "["))
        if close is None:
            raise Error("a list is expected")
        entries = []
        while not self.take(close):
            entries.append(self.read(self.choice, holds))
            if not self.take(","):
                self.expect(close)
                break
        return float(holds and (left in entries) != inverted)

    def sum(self):
        value = self.product()
        while op := self.take("+", "-"):
            right = self.product()
            value = value + right if op == "+" else value - right
        return value

    def product(self):
        value = self.unary()
        while op := self.take("*", "/", "//", "%"):
            right = self.unary()
            if op == "*":
                value = value * right
            elif op == "/":
                value = self.divided(value, right)
            elif op == "%":
                value = self.modulo(value, right)
            else:
                value = _rounded(self.divided(value - self.modulo(value, right), right))
        return value

    def unary(self):
        if op := self.take("+", "-", "!"):
            value = self.unary()
            return value if op == "+" else 0.0 - value if op == "-" else float(value == 0)
        base = self.primary()
        if not self.take("^", "**"):
            return base
        exponent = self.unary()
        try:
            return self.finite(math.pow(base, exponent), "a power")
        except (OverflowError, ValueError):
            return self.finite(math.inf, "a power")

    def primary(self):
        number, name = self.number, self.name
        if self.take("("):
            value = self.choice()
            self.expect(")")
            return value
        if not number and not name:
            raise Error(f"at '{self.token}': a value is expected")
        self.advance()
        if number:
            return float(number)
        if name in ("True", "true", "False", "false"):
            return float(name in ("True", "true"))
        if self.token == "(":
            return self.function(name)
        if name not in self.values:
            raise Error(f"'{name}' is not known")
        return float(self.values[name])

    def function(self, name):
        x = []
        while self.take("(" if not x else ","):
            x.append(self.choice())
        self.expect(")")
        if name in ("min", "max"):
            return min(x) if name == "min" else max(x)
        two = {"ceil_div": math.ceil, "floor_div": math.floor, "align_up": math.ceil}
        if len(x) != (2 if name in two else 1):
            raise Error(f"another number of arguments of {name} is expected")
        if name in two:
            quotient = self.divided(x[0], x[1])
            whole = float(two[name](quotient)) if math.isfinite(quotient) else quotient
            return whole * x[1] if name == "align_up" else whole
        return self.function_of_one(name, x[0])

    def function_of_one(self, name, x):
        if name in ("sqrt", "ln", "log2") and (x < 0 or (x == 0 and name != "sqrt")):
            return self.finite(math.nan, name)
        if name == "exp":
            return self.finite(math.exp(x) if x < 709.8 else math.inf, "exp")
        known = {"floor": math.floor, "ceil": math.ceil, "round": _rounded, "abs": abs,
                 "sqrt": math.sqrt, "ln": math.log, "log2": math.log2,
                 "is_pow2": lambda a: a >= 1 and math.frexp(a)[0] == 0.5}
        if name not in known:
            raise Error(f"there is no function {name}")
        return float(known[name](x)) if math.isfinite(x) else x


def _rounded(value):
    """Halves away from zero, as in C."""
    if not math.isfinite(value):
        return value
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)
