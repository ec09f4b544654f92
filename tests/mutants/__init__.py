"""Mutants: small mistakes made on purpose in the real source, each of which some test must notice.

make mutants                        every listed mutant, then a sample of generated ones
python -m mutants --listed WORD     only the listed mutants whose name has the word
python -m mutants --generated 300   only generated ones, so many of them (0: all)
python -m mutants --honest 200      the tests behind the privacy claims, with so many seeds, on the honest build
python -m mutants --record          note anew which test reaches which function (reach.json)
python -m mutants --table           write README.md anew: which mutant answers which item of which list

A tool, not a part of the default tests: test_listed.py holds the list to the source, in a second.
"""
