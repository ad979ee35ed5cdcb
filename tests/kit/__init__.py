"""What more than one test needs: clocks, gateways, people, pages; the fixtures stand in `fixtures`.

No test imports from another test: what two of them share moves here, or, if it is of one folder
alone, into a module of that folder whose name does not begin with `test_`.
"""
