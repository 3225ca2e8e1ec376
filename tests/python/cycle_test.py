# SPDX-License-Identifier: Apache-2.0
"""Which optimizer steps make up an iteration, from their order."""

import unittest

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _cycle
from kymo_trace._cycle import MAX_RUN_LENGTH


class Optimizer:
    """Its id is its identity."""


class CycleTest(unittest.TestCase):
    def setUp(self):
        self.text, self.iterations = "", 0

    def seen(self, program, created=""):
        """What is found in a program whose letters are optimizer steps, `.` a call of a module, and `L` a batch that is
        loaded: `|` is the end of an iteration, `?` an assumed one, and `~` an iteration that turned out to be assumed;
        `+N` and `-N`: the number of iterations before was another one. The optimizers of `created` exist before their
        first step."""
        optimizers = {name: Optimizer() for name in created}
        cycle = _cycle.Cycle(self.revise)
        for optimizer in optimizers.values():
            cycle.created(optimizer)
        self.setUp()
        has_stepped = False
        for letter in program:
            if letter == "L":
                cycle.loads()
            elif letter != ".":
                key = id(optimizers.get(letter, letter))
                cycle.begins(key)
                cycle.step(key)
                self.text += letter
                has_stepped = True
            elif has_stepped and cycle.is_complete():
                self.text += "?" if cycle.is_assumed() else "|"
                self.iterations += 1
                cycle.ended()
                has_stepped = False
        return self.text

    def revise(self, difference, _):
        self.text += f"{difference:+}" if difference else "~"
        self.iterations += difference

    def check(self, program, expected, iterations=None, created=""):
        """`iterations`: complete ones; of any length, `expected` is what is seen at last."""
        seen = self.seen(program, created)
        self.assertEqual(seen[-len(expected) :], expected, seen)
        self.assertEqual(self.iterations, iterations, seen)

    def test_one_optimizer(self):
        self.check(".A" * 4, "A|A|A|A", 3, "A")
        self.check(".A" * 4, "A|A|A|A", 3)  # it was created in another way

    def test_optimizers_in_turn(self):
        self.check(".D.G" * 4, "DG?DG|DG|DG", 3, "DG")
        self.check(".D.G" * 4, "D|G~?D-1G|DG|DG", 3)  # it is not known that there will be two
        self.check(".D.E.G" * 4, "DEG?DEG|DEG|DEG", 3, "DEG")

    def test_optimizers_at_the_end_of_an_iteration(self):
        self.check(".AB" * 3, "AB|AB|AB", 2, "AB")

    def test_an_optimizer_that_never_steps(self):
        self.check(".A" * 12, "AA+1?A?A?A?A?A?A?A|A|A|A", 11, "AB")

    def test_an_optimizer_that_does_not_exist_any_more(self):
        cycle = _cycle.Cycle(self.revise)
        cycle.created(Optimizer())
        cycle.step(1)
        self.assertTrue(cycle.is_complete())
        self.assertIsNone(cycle.is_assumed())

    def test_several_steps_in_a_row(self):
        program = (".D" * 3 + ".G") * 4
        self.check(program, "DD+1?D?G~?D-3DDG?DDDG?DDDG", 3, "DG")
        self.check(program, "D|D|D|G~?D-3DDG?DDDG?DDDG", 3)
        self.check(program.replace(".D.D.D", "L.D.D.D"), "DDDG|DDDG", 3, "DG")  # a batch per iteration: not assumed
        self.check(".D.G.G" * 4, "DG?G?D-1GG?DGG?DGG", 3, "DG")

    def test_each_step_in_a_row_has_its_own_batch(self):
        self.check(("L.D" * 3 + ".G") * 3, "DD+1?D?G~?D-1|D|DG|D|D|DG", 8, "DG")
        self.check(("L.D.G" + "L.D" * 2) * 3, "DG?DD+1?D?G|D-1|D|DG|D|D", 8, "DG")
        self.check(("L.D" * 30 + ".G") * 3, "D|D|D|D|D|DG", 89, "DG")
        self.check(("L.D" * 3 + "L.G") * 3, "D-3DDG?DDDG", 2, "DG")  # so has the generator

    def test_an_optimizer_that_steps_now_and_then_after_another_one(self):
        self.check(".A.A.AB" * 3, "A|A|AB|A|A|AB|A|A|AB", 8)
        self.check(".A.A.BA" * 3, "A|A|BA|A|A|BA|A|A|BA", 8)

    def test_an_optimizer_that_steps_seldom_by_itself(self):
        self.check((".A" * 12 + ".B") * 3, "|A|A|B~?A~?A?A?A?A?A?A?A?A|A|A|A|B", 38)

    def test_a_change_for_good(self):
        self.check(".A" * 12 + ".B" * 12, "A|A|B~?B?B?B?B?B?B?B?B|B|B|B", 23)
        self.check(".A" * 12 + ".B" * 12, "A|A|B~?B?B?B?B?B?B?B?B|B|B|B", 23, "AB")
        self.check(".A" * 12 + "...." + ".B.." * 12, "A|A|B~?B?B?B?B?B?B?B?B|B|B|B|", 24)  # with an evaluation
        self.check(".A" * 9 + ".B" * 9 + ".C" * 9, "B|C~?C?C?C?C?C?C?C?C", 26)

    def test_a_change_to_optimizers_in_turn(self):
        self.check(".A" * 12 + ".D.G" * 3, "A|A|D~?G~?D-1G|DG", 14)

    def test_a_change_from_optimizers_in_turn(self):
        self.check(".D.G" * 3 + ".D" * 12, "DG|DG|DD+1?D?D?D?D?D?D?D|D|D|D", 14, "DG")
        self.check(".D.G" * 3 + ".G" * 12, "DG|DG|G?G?G?G?G?G?G?G|G|G|G|G", 14, "DG")
        self.check(".D.G" * 3 + ".N" * 12, "DG|DG|N~?N?N?N?N?N?N?N?N|N|N|N", 14, "DG")

    def test_stages_in_turn(self):
        self.check((".A" * 12 + ".B" * 12) * 2, "|B|A~?A?A?A?A?A?A?A?A|A|A|A|B~?B?B?B?B?B?B?B?B|B|B|B", 47, "AB")

    def test_no_fixed_order(self):
        self.check(".D.D.G.D.G.D.D.D.G.D.D.G.D", "DD+1?G~?D-2G|DDD+2?G?D-3DG?D", 4, "DG")
        self.check(".D.G.E.D.G.D.G.E.D.G.D.", "DGE?DGD+1G|E|D-1GD+1", 4, "DGE")

    def created_anew(self, program, kinds):
        """What is seen if all optimizers are created, instead of those before, at each `N`."""
        optimizers, cycle = {}, _cycle.Cycle(self.revise)
        self.setUp()
        for letter in program:
            if letter == "N":
                optimizers = {name: kind() for name, kind in kinds.items()}
                for optimizer in optimizers.values():
                    cycle.created(optimizer)
            elif letter != ".":
                cycle.begins(id(optimizers[letter]))
                cycle.step(id(optimizers[letter]))
                self.text += letter
            elif self.text and cycle.is_complete():
                self.text += "?" if cycle.is_assumed() else "|"
                cycle.ended()
        return self.text

    def test_optimizers_that_are_created_anew(self):
        kinds = {name: type(name, (Optimizer,), {}) for name in "DG"}
        one = {"D": kinds["D"]}
        self.assertEqual(self.created_anew("N.D" * 4, one), "D|D|D|D")  # in each iteration
        self.assertEqual(self.created_anew("N.D.D.D" * 3, one), "D|D|D|D|D|D|D|D|D")  # in each epoch
        self.assertEqual(self.created_anew("N.D.G" + ".D.G" * 2 + "N.D.G.D.G", kinds), "DG?DG|DG|DG|DG")
        # Another class does not take the place of the first one.
        both = self.created_anew("N.D.D.D" + "N.G.G.G", {"D": kinds["D"], "G": kinds["G"]})
        self.assertEqual(both, "DD+1?D|G~?G?G")

    def test_a_new_optimizer_with_the_id_of_an_old_one(self):
        cycle = _cycle.Cycle(self.revise)
        optimizer = Optimizer()
        for first in (id(optimizer), 1, id(optimizer)):
            if first != 1:
                cycle.created(optimizer)
            for _ in range(5):
                cycle.begins(first)
                cycle.step(first)
                self.assertTrue(cycle.is_complete())
                cycle.ended()
        self.assertEqual(self.iterations, 0)  # the steps of all were iterations

    def test_the_only_one(self):
        cycle = _cycle.Cycle(self.revise)
        found = []
        for key in [1] * 4 + [2] * 12:
            cycle.step(key)
            cycle.is_complete()
            cycle.ended()
            found.append(cycle.only_optimizer())
        self.assertEqual(found, [None, 1, 1, 1] + [None] * MAX_RUN_LENGTH + [2] * (12 - MAX_RUN_LENGTH))

    def test_steps_that_were_followed_elsewhere(self):
        cycle = _cycle.Cycle(self.revise)
        for _ in range(3):
            cycle.step(1)
            self.assertTrue(cycle.is_complete())
            cycle.ended()
        cycle.step(1)
        cycle.take_over(cycle.state(), 20)
        self.assertTrue(cycle.is_complete())
        cycle.ended()
        self.assertEqual(cycle.only_optimizer(), 1)
        cycle.step(2)
        self.assertTrue(cycle.is_complete())
        self.assertEqual(cycle.is_assumed(), _cycle.OWN_ITERATION)
        cycle.ended()
        cycle.step(1)  # its run was too long to be part of an iteration with the other one
        self.assertTrue(cycle.is_complete())
        self.assertEqual(self.iterations, 0)


if __name__ == "__main__":
    unittest.main()
