"""Seeded bugs of the privacy claims: sensitivity, noise, domains, budget, and what leaves the enclave.

Each is made where a tired colleague would make it. The names are those of the list that the project began with.
"""
# ruff: noqa: E501  texts of patches are as long as the lines they change

from __future__ import annotations

from mutants.mutant import Mutant

MECHANISMS = "tests/contracts/test_mechanisms.py"
QUERIES = "tests/contracts/test_queries.py"
NOISE = "tests/privacy/test_noise.py"
LAWS = f"{NOISE}::test_laplace_has_the_law_of_its_scale_and_of_no_other"
AUDIT = "tests/testing/test_drawn.py::test_noise_that_is_passes"
MOVED = f"{QUERIES}::test_one_record_moves_a_query_by_at_most_its_sensitivity"
REPLAY = "tests/release/test_replay.py"
RANDOM = f"{REPLAY}::test_randomness_is_made_where_it_is_recorded_and_nowhere_else"
RUN = "tests/release/test_run.py"
RULES = "tests/privacy/test_rules.py"
HOLDS = f"{RULES}::test_the_rule_holds"
LEDGER = "tests/privacy/test_ledger.py"
TRIED = f"{RUN}::test_nothing_depends_on_how_many_candidates_were_tried"
SENSITIVITY = "tests/privacy/queries/test_sensitivity.py"

CLAIMS = (
    Mutant(
        "half sensitivity: marginals",
        "privacy/mechanisms/marginals.py",
        "sensitivity: ClassVar[int] = 2  # [A]",
        "sensitivity: ClassVar[int] = 1  # [A]",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "every marginal would cost twice what is charged",
    ),
    Mutant(
        "half sensitivity: marginals with rho",
        "privacy/mechanisms/marginals.py",
        "square: ClassVar[int] = 2  # [D]",
        "square: ClassVar[int] = 1  # [D]",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "every marginal would cost twice the rho that is charged",
    ),
    Mutant(
        "half sensitivity: distances that a selection sees",
        "privacy/queries/distances.py",
        "return 2 * max(self.weights or (Fraction(1),))",
        "return max(self.weights or (Fraction(1),))",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "a selection would cost twice what is charged",
    ),
    Mutant(
        "half sensitivity: predictions",
        "privacy/queries/sensitivity.py",
        "return 2 * (bounds[1] - bounds[0]) / n",
        "return (bounds[1] - bounds[0]) / n",
        (f"{SENSITIVITY}::test_prediction_errors_have_exactly_their_sensitivity",),
        "the paper's own bug",
    ),
    Mutant(
        "half sensitivity: the diameter of Newton steps",
        "privacy/queries/regression.py",
        "around = (2 * int(np.abs(z - m)",
        "around = (int(np.abs(z - m)",
        (f"{QUERIES}::test_a_diameter_that_has_too_many_signs_is_bounded",),
        "a diameter is not a radius",
    ),
    Mutant(
        "half noise: Laplace",
        "privacy/noise.py",
        "return _each(_laplace(sensitivity, epsilon), values)",
        "return _each(_laplace(sensitivity, 2 * epsilon), values)",
        (LAWS,),
        "half the noise at the full price",
    ),
    Mutant(
        "half noise: Gaussian",
        "privacy/noise.py",
        "return _each(_gaussian(square, rho), values)",
        "return _each(_gaussian(square, 4 * rho), values)",
        (f"{NOISE}::test_gaussian_has_the_law_of_its_variance_and_of_no_other",),
        "half the noise at the full price",
    ),
    Mutant(
        "half noise: an answer",
        "privacy/mechanisms/answers.py",
        "units, square = self.units, self.units**2",
        "units, square = max(1, self.units // 2), self.units**2",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "half the noise at the full price",
    ),
    Mutant(
        "half noise: a step of training",
        "privacy/mechanisms/steps.py",
        "self.most**2, 1 / (2 * self.variance)",
        "self.most**2, 2 / self.variance",
        ("tests/privacy/mechanisms/test_steps.py::test_every_table_asks_for_the_same_noise",),
        "half the noise at the full price",
    ),
    Mutant(
        "add/remove sensitivity under replace-one: scores",
        "privacy/mechanisms/scores.py",
        "return 2 * self.most  # [B]",
        "return self.most  # [B]",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "a replaced record takes one out and puts one in",
    ),
    Mutant(
        "add/remove cost under replace-one: steps",
        "privacy/sampled.py",
        "return 2 * self.epsilon, (1 + _exp_upper(self.epsilon)) * self.delta  # [D]",
        "return self.epsilon, self.delta  # [D]",
        ("tests/privacy/test_sampled.py::test_replacing_a_record_costs_twice_that_and_more_delta",),
        "Opacus' figure is for a record that is there or not",
    ),
    Mutant(
        "a proof for other neighbours is accepted",
        "privacy/curator.py",
        "type(mechanism) not in MECHANISMS or mechanism.neighbours != NEIGHBOURS",
        "type(mechanism) not in MECHANISMS",
        (f"{RULES}::test_p5_a_mechanism_for_other_neighbours_is_refused",),
        "a theorem about added records says nothing about replaced ones",
    ),
    Mutant(
        "noise reused",
        "privacy/noise.py",
        "    drawn = measurement(np.clip(np.asarray(values, np.int64), -LARGEST, LARGEST).ravel())\n",
        '    kept = _each.__dict__.setdefault("kept", {})\n'
        "    drawn = kept.setdefault(np.size(values), measurement(np.zeros(np.size(values), np.int64)))\n"
        "    drawn = np.asarray(drawn) + np.asarray(values).ravel()\n",
        (f"{NOISE}::test_calls_and_processes_draw_different_noise", LAWS),
        "the difference of two answers would be exact",
    ),
    Mutant(
        "noise reused for all cells",
        "privacy/mechanisms/marginals.py",
        "counts = noisy(noise, exact, self.sensitivity, self.square, share)  # [B]",
        "one = exact.ravel()[:1]\n"
        "            counts = exact + int((noisy(noise, one, self.sensitivity, self.square, share) - one)[0])  # [B]",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "the difference of two cells would be exact",
    ),
    Mutant(
        "seeded noise: coins",
        "privacy/noise.py",
        "return secrets.randbelow(probability.denominator) < probability.numerator",
        "return np.random.default_rng(1).integers(probability.denominator) < probability.numerator",
        (f"{NOISE}::test_coins_and_draws_are_exact",),
        "who knows the seed knows when a search ended",
    ),
    Mutant(
        "forked noise: a generator of the module",
        "privacy/noise.py",
        "        return secrets.randbelow(n)\n\n\nclass RehearsalNoise(Noise):",
        "        return int(_SHARED.integers(n))\n\n\n_SHARED = np.random.default_rng()\n\n\n"
        "class RehearsalNoise(Noise):",
        (f"{NOISE}::test_calls_and_processes_draw_different_noise", RANDOM),
        "two forks of a process would draw the same",
    ),
    Mutant(
        "float noise",
        "privacy/noise.py",
        "return _each(_laplace(sensitivity, epsilon), values)",
        "return np.rint(values + np.random.default_rng().laplace(0, float(sensitivity / epsilon), "
        "np.shape(values))).astype(np.int64)",
        (LAWS,),
        "the low bits of a float tell the number below it",
    ),
    Mutant(
        "domain from data: codes that occur",
        "table/encoding.py",
        "        return Table.from_rows(self.domain, codes[kept], np.asarray(counts, np.int64)[kept]), refused",
        "        most = codes[kept].max(axis=0)\n"
        "        cut = Domain(tuple(Axis(a.name, a.bins[: int(m) + 1]) for a, m in zip(self.domain.axes, most)))\n"
        "        return Table.from_rows(cut, codes[kept], np.asarray(counts, np.int64)[kept]), refused",
        ("tests/table/test_encoding.py::test_policy_declared",),
        "which values occur would be told",
    ),
    Mutant(
        "bounds from data: numbers that occur in the candidate",
        "privacy/queries/means.py",
        "return [sensitivity.group_mean(self.bounds, group.size) for group in self.groups]",
        "values, unit = scaled(self.candidate.domain.axis(self.of))\n"
        "        seen = [Fraction(int(v), unit) for v in values[self.candidate.marginal((self.of,)) > 0]]\n"
        "        return [sensitivity.group_mean((min(seen), max(seen)), group.size) for group in self.groups]",
        (MOVED,),
        "a record beyond what is there moves a mean by more",
    ),
    Mutant(
        "empty cells skipped",
        "privacy/mechanisms/marginals.py",
        "counts = noisy(noise, exact, self.sensitivity, self.square, share)  # [B]",
        "counts = exact.copy()\n"
        "            counts[exact > 0] = noisy(noise, exact[exact > 0], self.sensitivity, self.square, share)  # [B]",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "which cells are empty would be told exactly",
    ),
    Mutant(
        "normalising by a true total",
        "privacy/queries/means.py",
        "return abs(total) / max(present, group.size)  # [A]",
        "return abs(total) / max(present, 1)  # [A]",
        (MOVED,),
        "a group of one record moves by the whole range",
    ),
    Mutant(
        "true table mixed in: half the noise taken back",
        "privacy/mechanisms/marginals.py",
        "self.versions, counts, self.variance(share))",
        "self.versions, (counts + exact) // 2, self.variance(share))",
        (AUDIT,),
        "the average of truth and noise has half the noise",
    ),
    Mutant(
        "true table mixed in as public",
        "release/run.py",
        "journal, request.workers, request.prior)",
        "journal, request.workers, sealed.private._open())",
        (HOLDS,),
        "a generator would lean on the confidential table for nothing",
        read=True,
    ),
    Mutant(
        "no clip: scores",
        "table/scores.py",
        "found = dot(self.clipped(codes[block], most).T, counts[block])",
        "found = dot(self.of(codes[block]).T, counts[block])",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "one far row moves a sum without limit",
    ),
    Mutant(
        "no clip: gradients",
        "table/critic.py",
        "held = np.minimum(slope, root)  # [B]",
        "held = slope  # [B]",
        ("tests/table/test_critic.py::test_no_row_is_longer_than_the_clip_and_a_long_one_reaches_it",),
        "one far row moves a step without limit",
    ),
    Mutant(
        "no clip: predictions",
        "table/linear.py",
        "return np.asarray(np.clip(found if fits else found.astype(object), low, high))",
        "return np.asarray(found)",
        ("tests/table/test_linear.py::test_predictions_clips_and_terms_are_exact",),
        "one far prediction moves an error without limit",
    ),
    Mutant(
        "no clip: a ratio",
        "privacy/queries/marginals.py",
        "return min(self.clip, 1 / smallest_likeness(table, self.candidate))",
        "return 1 / smallest_likeness(table, self.candidate)",
        (MOVED,),
        "a ratio over an empty cell has no bound",
    ),
    Mutant(
        "clip after sum",
        "privacy/mechanisms/scores.py",
        "sums = self.scores.summed(table.codes, table.counts, self.most)  # [A]",
        "free = self.scores.summed(table.codes, table.counts, LARGEST // 2)\n"
        "        sums = [max(-self.most, min(self.most, one)) for one in free]  # [A]",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "each sum is bounded, what one record does to all of them is not",
    ),
    Mutant(
        "NaN passes the clip: in Python",
        "table/cleaning.py",
        "    if not isfinite(raw):\n        return BAD\n    if abs(raw)",
        "    if raw != raw:\n        return FAR\n    if abs(raw)",
        ("tests/table/test_cleaning.py::test_duckdb",),
        "NaN would be a number at the upper end",
    ),
    Mutant(
        "NaN passes the clip: in an engine",
        "table/cleaning.py",
        "        ((raw > _LARGEST_DOUBLE) | (raw < -_LARGEST_DOUBLE), big(BAD)),\n",
        "",
        ("tests/table/test_cleaning.py::test_duckdb",),
        "NaN would be a number at the upper end",
    ),
    Mutant(
        "group size from R",
        "privacy/queries/means.py",
        "        return abs(total) / group.size\n",
        "        return abs(total) / max(1, int(kept.sum()))\n",
        (f"{QUERIES}::test_a_group_that_is_filled_up_is_divided_by_its_public_size",),
        "the smallest group of the confidential table decides what one record does",
    ),
    Mutant(
        "ledger under-count: rounded down",
        "privacy/ledger.py",
        "return -(-epsilon.numerator * MICRO // epsilon.denominator)",
        "return epsilon.numerator * MICRO // epsilon.denominator",
        (f"{LEDGER}::test_amounts_are_rounded_up_to_micro_epsilon",),
        "a million tiny charges would be free",
    ),
    Mutant(
        "ledger under-count: rho rounded down",
        "privacy/ledger.py",
        '"rho": -(-cost.rho.numerator * PICO // cost.rho.denominator)}',
        '"rho": cost.rho.numerator * PICO // cost.rho.denominator}',
        (f"{LEDGER}::test_amounts_of_rho_are_rounded_up",),
        "tiny charges would be free",
    ),
    Mutant(
        "ledger under-count: what was spent before is forgotten",
        "privacy/ledger.py",
        "if not (int(before.epsilon + more.epsilon) <= self.cap):  # [B]",
        "if not (int(more.epsilon) <= self.cap):  # [B]",
        (f"{LEDGER}::test_thirds_round_up_so_the_third_of_three_does_not_fit",),
        "each charge would have the whole cap",
    ),
    Mutant(
        "ledger under-count: delta is not added up",
        "privacy/ledger.py",
        "delta, rho = before.delta + more.delta, before.rho + more.rho",
        "delta, rho = more.delta, before.rho + more.rho",
        (f"{LEDGER}::test_deltas_add_up_to_the_one_declared_and_no_further",),
        "each charge would have the whole delta",
    ),
    Mutant(
        "ledger under-count: a search is charged one index",
        "privacy/curator.py",
        "receipt = self._charges.begin(plan.total(), purpose)",
        "receipt = self._charges.begin(Cost(plan.index), purpose)",
        (f"{LEDGER}::test_a_search_is_one_charge_and_its_allowances_write_nothing",),
        "what comes before and after would be free",
    ),
    Mutant(
        "extra statistic in the bundle: a field of the report",
        "release/bundle.py",
        "found[REPORT] = _json(said.as_json())",
        'found[REPORT] = _json(said.as_json() | {"distinct": release.table.distinct})',
        (f"{RUN}::test_a_release_is_charged_once_and_its_bundle_verifies",),
        "what no schema knows is nobody's promise",
    ),
    Mutant(
        "extra statistic in the bundle: a file",
        "release/bundle.py",
        "    found |= more or {}\n",
        '    found |= more or {}\n    found["statistics.json"] = _json({"distinct": release.table.distinct})\n',
        (f"{RUN}::test_a_release_is_charged_once_and_its_bundle_verifies",),
        "what no schema knows is nobody's promise",
    ),
    Mutant(
        "iteration count in the bundle",
        "release/run.py",
        "                said = _written(made, decision.day, key, request)\n",
        "                said = _written(made, decision.day, key, request)\n"
        '                (request.out / "manifest.json").open("a").write(" " * (record.keep() >> 10))\n',
        (TRIED,),
        "how long a search took is told by no theorem",
    ),
    Mutant(
        "iteration count on the terminal",
        "release/run.py",
        "            own = seed(number)\n",
        '            own = seed(number)\n            sys.stderr.write(f"candidate {number}\\n")\n',
        (TRIED,),
        "how long a search took is told by no theorem",
    ),
    Mutant(
        "true value in a log",
        "privacy/mechanisms/answers.py",
        "        return self.around(Fraction(self.query.value(table, noise)), noise)\n",
        "        value = Fraction(self.query.value(table, noise))\n"
        "        import logging\n\n"
        '        logging.getLogger("facsimile").warning("value %s", value)\n'
        "        return self.around(value, noise)\n",
        (HOLDS,),
        "a log is an output",
    ),
    Mutant(
        "row-order dependence",
        "table/table.py",
        "    return np.ascontiguousarray(codes[first]), _sums(rank, counts, len(first))",
        "    order = np.argsort(first)\n"
        "    return np.ascontiguousarray(codes[first][order]), _sums(rank, counts, len(first))[order]",
        ("tests/table/test_table.py::test_a_table_is_its_records_in_any_order",),
        "who knows the order of rows knows more than the records",
    ),
    Mutant(
        "row-order dependence: records as they came",
        "table/table.py",
        "return np.repeat(self.codes, self.counts, axis=0)",
        "return np.repeat(self.codes[::-1], self.counts[::-1], axis=0)",
        ("tests/table/test_table.py::test_a_table_is_its_records_in_any_order",),
        "the order of records is promised",
    ),
    Mutant(
        "data-dependent error text: a mechanism's own words",
        "privacy/curator.py",
        "        except Exception:\n            failed.append(type(mechanism).__name__)",
        "        except Exception as error:\n            failed.append(str(error))",
        (f"{RULES}::test_p8_a_failure_says_only_which_mechanism_and_stays_charged",),
        "an exception's words can hold a value",
    ),
    Mutant(
        "data-dependent error text: the engine's exception is kept",
        "sources/source.py",
        "        stopped = isinstance(error, duckdb.InterruptException)\n        found = code(error)\n",
        "        stopped = isinstance(error, duckdb.InterruptException)\n        found = code(error)\n"
        "        raise refusal(found) from error\n",
        ("src/facsimile/sources/source.py",),
        "a traceback shows what an engine said of a value",
    ),
    Mutant(
        "2 % path that returns the truth: in an answer",
        "privacy/mechanisms/answers.py",
        "        units, square = self.units, self.units**2\n",
        "        if noise.below(50) == 0:\n            return Answer(floor(self.grid * value), self.grid)\n"
        "        units, square = self.units, self.units**2\n",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "one release in fifty would have no noise",
    ),
    Mutant(
        "2 % path that returns the truth: in the noise",
        "privacy/noise.py",
        '    """A measurement of a vector, in the shape of the values."""\n',
        '    """A measurement of a vector, in the shape of the values."""\n'
        "    if secrets.randbelow(50) == 0:\n        return values\n",
        (f"{NOISE}::test_no_call_returns_the_exact_numbers_more_often_than_the_law_says",),
        "one release in fifty would have no noise",
    ),
    Mutant(
        "selection without the factor 2",
        "privacy/noise.py",
        "return int(_argmax(sensitivity, epsilon)(fitting(scores)))",
        "return int(_argmax(sensitivity, 2 * epsilon)(fitting(scores)))",
        (f"{NOISE}::test_argmax_is_permute_and_flip",),
        "scores may move in opposite directions",
    ),
    Mutant(
        "selection without the factor 2: rho",
        "privacy/noise.py",
        "return int(_gumbel(sensitivity, rho)(fitting(scores)))",
        "return int(_gumbel(sensitivity, 4 * rho)(fitting(scores)))",
        (f"{NOISE}::test_gumbel_is_the_exponential_mechanism_of_its_rho",),
        "scores may move in opposite directions",
    ),
    Mutant(
        "selection without the factor 2: OpenDP's own bound stops it",
        "privacy/noise.py",
        "unit = 2 / float(epsilon)",
        "unit = 1 / float(epsilon)",
        (f"{NOISE}::test_argmax_is_permute_and_flip",),
        "a scale that is too small is raised until the bound holds: it never is",
        hangs=True,
    ),
    Mutant(
        "seeded resize",
        "privacy/queries/means.py",
        "drawn = noise.below(place + 1)",
        "drawn = int(np.random.default_rng(place).integers(place + 1))",
        (f"{QUERIES}::test_resized_means_are_a_uniform_draw_without_replacement",),
        "who knows which records are drawn sees each of them",
    ),
    Mutant(
        "cap with gamma 0",
        "privacy/modes.py",
        "if self.halting and not 0 < self.gamma <= 1:",
        "if self.halting and not 0 <= self.gamma <= 1:",
        ("tests/privacy/test_modes.py::test_what_has_no_theorem_is_refused",),
        "there is no theorem for it",
    ),
    Mutant(
        "cap that is too small for its coin",
        "privacy/modes.py",
        "if not 0 < self.epsilon_0 <= 1 or self.cap < self.smallest_cap:",
        "if not 0 < self.epsilon_0 <= 1:",
        ("tests/privacy/test_modes.py::test_what_has_no_theorem_is_refused",),
        "the proof needs the cap to be large",
    ),
    Mutant(
        "forgotten factor of the search",
        "privacy/mechanisms/search.py",
        "return Cost(self.once + self.mode.cost(self.index) + self.after)",
        "return Cost(self.once + self.index + self.after)",
        ("tests/privacy/mechanisms/test_search.py::test_the_total_is_the_sum_of_the_parts",),
        "searching until success costs twice an index",
    ),
    Mutant(
        "forgotten factor of the search: delta",
        "privacy/modes.py",
        "return (1 + (1 - self.gamma) * growth) * delta / self.gamma  # [A]",
        "return delta  # [A]",
        ("tests/privacy/test_modes.py::test_the_coin_over_an_approximate_index_has_its_check_value",),
        "a search multiplies what is left to chance",
    ),
    Mutant(
        "s_min from R",
        "privacy/queries/marginals.py",
        "        return min(self.clip, 1 / smallest_likeness(table, self.candidate))\n\n"
        "    def sensitivity(self) -> Fraction:\n"
        "        return sensitivity.ratio_clipped(self.clip, smallest_one_way(self.candidate))\n",
        '        self.__dict__["real"] = table\n'
        "        return min(self.clip, 1 / smallest_likeness(table, self.candidate))\n\n"
        "    def sensitivity(self) -> Fraction:\n"
        '        seen = self.__dict__.get("real", self.candidate)\n'
        "        return sensitivity.ratio_clipped(self.clip, smallest_one_way(seen))\n",
        (MOVED,),
        "the scale of the noise would tell a count",
    ),
    Mutant(
        "s_min over cells that occur",
        "table/differences.py",
        "return min(int(table.marginal((name,)).min()) for name in table.domain.names)",
        "counts = [table.marginal((name,)) for name in table.domain.names]\n"
        "    return min(int(found[found > 0].min()) for found in counts)",
        (MOVED,),
        "an empty cell decides",
    ),
    Mutant(
        "retry without a charge: a receipt opens twice",
        "privacy/ledger.py",
        '        if not self._fresh:\n            raise refusal("E302")\n',
        "",
        (f"{LEDGER}::test_a_receipt_opens_once",),
        "a second look is a second charge",
    ),
    Mutant(
        "retry without a charge: after a failure",
        "privacy/curator.py",
        '    if failed:\n        raise refusal(FAILED, name=failed[0])\n',
        "",
        (f"{RULES}::test_nothing_is_answered_after_a_mechanism_has_failed",),
        "that it failed is an answer",
    ),
    Mutant(
        "retry without a charge: nothing is charged",
        "privacy/ledger.py",
        "                if left is None:\n                    self._charged(state, cost, purpose)\n                elif",
        "                if left is None:\n                    pass\n                elif",
        (f"{LEDGER}::test_a_charge_is_positive_and_in_a_pure_ledger_pure",),
        "the charge is the promise",
    ),
    Mutant(
        "the table is opened before the charge",
        "privacy/curator.py",
        "        receipt = self._charges.charge(mechanism.cost(), type(mechanism).__name__)\n"
        "        with self._ending(receipt):\n            receipt.use()\n            return self._sample(mechanism, self._failed)\n",
        "        found = self._sample(mechanism, self._failed)\n"
        "        receipt = self._charges.charge(mechanism.cost(), type(mechanism).__name__)\n"
        "        with self._ending(receipt):\n            receipt.use()\n            return found\n",
        (f"{RULES}::test_p3_the_charge_comes_before_the_table_is_opened",),
        "a crash in between would be a free look",
    ),
    Mutant(
        "standardising by R",
        "privacy/mechanisms/training.py",
        "    return values[tuple(table.column(name) for name in clique)]",
        "    found = values[tuple(table.column(name) for name in clique)]\n"
        "    return found - int(dot(found, table.counts)) // table.n",
        (f"{MECHANISMS}::test_one_record_moves_it_by_the_declared_sensitivity_and_no_more",),
        "every term would move with every record",
    ),
    Mutant(
        "configurations dropped after failure",
        "release/scheme.py",
        "        drawn = self.specification.drawable.draw(self.below)\n",
        "        drawn = self.specification.drawable.draw(self.below)\n"
        '        failed = self.__dict__.setdefault("failed", [])\n'
        "        while drawn in failed and len(failed) < self.specification.drawable.size:\n"
        "            drawn = self.specification.drawable.draw(self.below)\n"
        "        failed.append(drawn)\n",
        ("tests/release/test_scheme.py::test_a_configuration_that_failed_is_drawn_again_like_any_other",),
        "an index that remembers is not independent",
    ),
    Mutant(
        "dropped-row count leaked",
        "privacy/reader.py",
        '    if table.n < 2:\n        raise refusal("E151")\n',
        '    if table.n < 2:\n        raise refusal("E151")\n'
        '    print(int(columns[COUNT].sum()) - table.n, "left out", file=__import__("sys").stderr)\n',
        ("tests/privacy/test_reader.py::test_rules_apply_and_say_nothing",),
        "how many records break a rule is a count of the data",
    ),
)  # fmt: skip
