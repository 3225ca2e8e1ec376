# SPDX-License-Identifier: Apache-2.0
"""The views of schemas/views, which are written for SQLite, in the dialect of DuckDB.

sqlglot translates what the two write differently. The functions here change what it leaves: where DuckDB is stricter,
or gives the same text another meaning. Whether a view then runs is for DuckDB to say.
"""

import re

from kymo_commands import require


def _null_if_any(name, function):
    """A macro for two to five arguments that is NULL if one of them is."""
    variants = []
    for names in ("ab", "abc", "abcd", "abcde"):
        conditions = " AND ".join(f"{name} IS NOT NULL" for name in names)
        arguments = ", ".join(names)
        variants.append(f"({arguments}) AS CASE WHEN {conditions} THEN {function}({arguments}) END")
    return name + ", ".join(variants)


MACROS = (
    _null_if_any("_least", "least"),
    _null_if_any("_greatest", "greatest"),
    # A pattern of GLOB as a regular expression.
    "_glob(x, pattern) AS regexp_full_match(x, replace(replace(replace(pattern, '.', '[.]'), '*', '.*'), '?', '.'))",
    "percentile(x, percent) AS quantile_cont(x, percent / 100)",
)
_COLUMN_OF_VALUES = re.compile(r"column(\d+)")
_CONVERSION = re.compile(r"%(?:%|[-+ 0#,!]*[\d.]*([a-zA-Z]))")
_TYPES_OF_CONVERSIONS = {"d": "BIGINT", "x": "BIGINT", "X": "BIGINT", "s": "TEXT"}  # others: DOUBLE


def _expressions():
    return require("sqlglot", "sqlglot", "translating the views for DuckDB").exp


def _of_select(node, kinds):
    """The nodes of these kinds within an expression, without those of its subqueries."""
    exp = _expressions()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, kinds):
            yield one
        waiting += [child for child in one.iter_expressions() if not isinstance(child, exp.Query)]


def _ancestors(node, end):
    while node is not end and node is not None:
        yield node
        node = node.parent


def _is_aggregate(node):
    exp = _expressions()
    return isinstance(node, (exp.AggFunc, exp.Filter)) and not isinstance(node.parent, exp.Window)


def _tables(select):
    sources = [select.args.get("from_"), *(select.args.get("joins") or [])]
    return {source.this.alias_or_name for source in sources if source is not None}


def _is_key(item, keys):
    """Whether a query is grouped by this column of its result; a column of its tables has precedence over the name."""
    exp = _expressions()
    return (
        isinstance(item, exp.Alias)
        and item.alias in keys
        and all(column.name != item.alias for column in item.find_all(exp.Column))
    )


def _name_bare_columns(select):
    """SQLite lets a grouped query name a column that is not grouped: its value in any row, or with one min() or max()
    in the row of that value."""
    exp = _expressions()
    group = select.args.get("group")
    aggregates = [one for item in select.expressions for one in _of_select(item, exp.AggFunc) if _is_aggregate(one)]
    if group is None and not aggregates:
        return
    keys = {key.sql() for key in group.expressions} if group is not None else set()
    kinds = tuple({type(key) for key in group.expressions}) if group is not None else ()
    aliases = {item.alias for item in select.expressions if isinstance(item, exp.Alias)}
    tables = _tables(select)
    extremes = [one for one in aggregates if isinstance(one, (exp.Min, exp.Max))]
    roots = [item for item in select.expressions if not _is_key(item, keys)]
    roots += [select.args[name] for name in ("having", "order") if select.args.get(name) is not None]
    for root in roots:
        for column in list(root.find_all(exp.Column)):
            around = list(_ancestors(column, select))
            if column.is_star or column.name in keys or any(map(_is_aggregate, around)):
                continue
            if any(isinstance(one, kinds) and one.sql() in keys for one in around):
                continue
            if column.table not in tables and any(isinstance(one, exp.Query) for one in around):
                continue  # of a subquery
            if root not in select.expressions and not column.table and column.name in aliases:
                continue
            if len(extremes) == 1:
                name = "arg_max_null" if isinstance(extremes[0], exp.Max) else "arg_min_null"
                named = exp.func(name, column.copy(), extremes[0].this.copy())
            else:
                named = exp.func("first", column.copy())
            column.replace(exp.alias_(named, column.name) if column.parent is select else named)


def _make_truth_a_number(tree):
    """The value of a comparison is 0 or 1 in SQLite."""
    exp = _expressions()
    for condition in reversed(list(tree.find_all(exp.Predicate, exp.Not, exp.And, exp.Or))):  # inner ones first
        outermost = condition
        while isinstance(outermost.parent, exp.Paren):
            outermost = outermost.parent
        parent = outermost.parent
        is_condition = (
            isinstance(parent, (exp.Where, exp.Having, exp.And, exp.Or, exp.Not, exp.Join, exp.Filter))
            or (isinstance(parent, exp.If) and outermost.arg_key == "this")
            or (
                isinstance(parent, exp.Predicate)
                and outermost.arg_key == "expression"
                and isinstance(parent, exp.Exists)
            )
        )
        if not is_condition:
            outermost.replace(exp.cast(outermost.copy(), "INT"))


def _cast_arguments(call):
    """SQLite's printf() converts a value to the type of its format; as a text, NULL is empty."""
    exp = _expressions()
    form, *values = call.expressions
    kinds = [kind for kind in _CONVERSION.findall(form.name) if kind] if isinstance(form, exp.Literal) else []
    if len(kinds) != len(values):  # known only when it runs, or a width is an argument
        kinds = ["s" if value.find(exp.DPipe) else None for value in values]
    for value, kind in zip(values, kinds, strict=True):
        if kind is not None:
            cast = exp.cast(value.copy(), _TYPES_OF_CONVERSIONS.get(kind, "DOUBLE"))
            value.replace(exp.func("coalesce", cast, exp.Literal.string("")) if kind == "s" else cast)


def _change(tree):
    exp = _expressions()
    for node in tree.walk():
        node.comments = None  # equal expressions have equal texts
    for join in tree.find_all(exp.Join):
        if join.kind == "CROSS" and join.args.get("on") is not None:  # fixes the order of a join in SQLite
            join.set("kind", None)
    for column in tree.find_all(exp.Column):
        found = _COLUMN_OF_VALUES.fullmatch(column.name)
        if found:
            column.this.set("this", f"col{int(found[1]) - 1}")
    for select in list(tree.find_all(exp.Select)):
        _name_bare_columns(select)
    _make_truth_a_number(tree)
    for like in list(tree.find_all(exp.Like)):
        like.replace(exp.ILike(**like.args))
    for glob in list(tree.find_all(exp.Glob)):
        glob.replace(exp.func("_glob", glob.this.copy(), glob.expression.copy()))
    for call in reversed(list(tree.find_all(exp.Anonymous))):
        if call.name.lower() == "printf":
            _cast_arguments(call)
    for literal in list(tree.find_all(exp.Literal)):
        if not literal.is_string and "." in literal.name:
            literal.set("this", f"{float(literal.name)!r}" + ("" if "e" in repr(float(literal.name)) else "e0"))
    for aggregate in list(tree.find_all(exp.AggFunc)):
        # DuckDB does not aggregate the result of a subquery that has a value of any type.
        for subquery in list(aggregate.find_all(exp.Subquery)):
            if subquery.find_ancestor(exp.AggFunc) is aggregate:
                subquery.replace(exp.TryCast(this=subquery.copy(), to=exp.DataType.build("DOUBLE")))
    for division in reversed(list(tree.find_all(exp.Div))):  # inner ones first
        # As in SQLite, `//` divides integers without a remainder, and other numbers as usual.
        divisor = division.expression.copy()
        is_number = isinstance(divisor, exp.Literal) and float(divisor.name) != 0
        if not is_number and not isinstance(divisor, exp.Nullif):
            divisor = exp.Nullif(this=divisor, expression=exp.Literal.number(0))
        division.replace(exp.IntDiv(this=division.this.copy(), expression=divisor))
    for kind, name in ((exp.Least, "_least"), (exp.Greatest, "_greatest")):
        for call in reversed(list(tree.find_all(kind))):
            arguments = [call.this, *call.expressions]
            if not any(argument.find(exp.Query) for argument in arguments):  # macros may not copy subqueries
                call.replace(exp.func(name, *(argument.copy() for argument in arguments)))
    return tree


def translate(script):
    """Return the names of the views that a script creates and their statements for DuckDB, as a dictionary."""
    sqlglot = require("sqlglot", "sqlglot", "translating the views for DuckDB")
    trees = [tree for tree in sqlglot.parse(script, read="sqlite") if tree is not None]
    return {tree.this.name: _change(tree).sql("duckdb", comments=False) for tree in trees}
