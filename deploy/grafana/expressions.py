"""Prints the expressions of a Grafana dashboard as rules, for `promtool check rules`.

usage: expressions.py DASHBOARD
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    dashboard = json.load(file)
panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
identifiers = [panel["id"] for panel in dashboard["panels"]]
assert len(set(identifiers)) == len(identifiers), "two panels have one id"
variables = [variable["name"] for variable in dashboard["templating"]["list"]]
rules = []
for panel in panels:
    assert panel["targets"], f"{panel['title']} asks for nothing"
    for target in panel["targets"]:
        expression = target["expr"]
        for variable in variables:
            expression = expression.replace("$" + variable, ".*")
        assert "$" not in expression, f"{panel['title']} has an unknown variable: {expression}"
        rules.append({"record": f"panel:{len(rules)}", "expr": expression})
# JSON is YAML.
json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, sys.stdout)
