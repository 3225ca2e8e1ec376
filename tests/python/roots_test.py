# SPDX-License-Identifier: Apache-2.0
"""Names of the modules that a program calls outside of others, from what its functions can see of them."""

import gc
import sys
import types
import unittest
import weakref

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace._roots import RootNames


class Module:
    """What is used of torch.nn.Module."""

    forward = None

    def __init__(self, *parts, parameters=1, **attributes):
        self.parts = {str(index): part for index, part in enumerate(parts)} | attributes
        self.own = parameters
        self.__dict__.update(attributes)

    def children(self):
        return iter(self.parts.values())

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, part in self.parts.items():
            yield from part.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return (module for _, module in self.named_modules())

    def parameters(self):
        return (number for module in self.modules() for number in range(module.own))


class Net(Module):
    def forward(self):
        return NAMES.name(self, sys._getframe())

    def call_within(self):
        return call(self)


class Other(Net):
    pass


class Agent(Module):
    def forward(self):
        raise NotImplementedError

    def act(self):
        return [call(self.actor), call(self.critic)]


class Trainer:
    """No module."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def step(self, name):
        return call(getattr(self, name))


NAMES = None


def call(module):
    return module.forward()


class RootsTest(unittest.TestCase):
    def setUp(self):
        global NAMES
        NAMES = RootNames(types.SimpleNamespace(nn=types.SimpleNamespace(Module=Module)))

    def test_a_single_root_has_the_name_of_its_class(self):
        model, other = Net(Net()), Other()
        part = model.parts["0"]  # contained in the root, so it is not another root
        self.assertEqual([call(model), call(other)], ["Net", "Other"])
        self.assertIsNotNone(part)

    def test_variables_of_a_function(self):
        actor, critic = Net(Net()), Net()
        self.assertEqual([call(actor), call(critic)], ["actor", "critic"])

    def test_variables_of_a_file(self):
        program = {"__name__": "program", "call": call, "Net": Net}
        exec("a, b = Net(), Net()\nnames = [call(b), call(a)]", program)
        self.assertEqual(program["names"], ["b", "a"])

    def test_variables_of_the_function_around_a_helper(self):
        def helper(model):
            return call(model)

        student, teacher = Net(), Net()
        self.assertEqual([helper(student), helper(teacher)], ["student", "teacher"])

    def test_a_method_of_the_root(self):
        policy, value = Net(), Net()
        self.assertEqual([policy.call_within(), value.call_within()], ["policy", "value"])

    def test_elements_of_a_list(self):
        nets, by_name = [Net(), Net()], {"left": Other(), "right": Other()}
        self.assertEqual([call(net) for net in nets], ["nets[0]", "nets[1]"])
        self.assertEqual([call(net) for net in by_name.values()], ["by_name[left]", "by_name[right]"])

    def test_attributes_of_a_module_that_is_not_called(self):
        def names(agent):
            return agent.act()

        self.assertEqual(names(Agent(actor=Net(), critic=Other())), ["actor", "critic"])
        critics = Module(Net(), Net(), parameters=0)  # a ModuleList
        critics.actor, critics.critic = critics.parts["0"], critics.parts["1"]
        agent = Agent(critics=critics)
        agent.actor, agent.critic = critics.parts.values()
        self.assertEqual(names(agent), ["critics[0]", "critics[1]"])

    def test_parts_of_a_module_in_a_variable(self):
        model = Module(encoder=Net(), layers=Module(Net(), Net(Net()), parameters=0), parameters=0)
        layers = model.parts["layers"].parts.values()
        names = [call(part) for part in (model.encoder, *layers)]
        self.assertEqual(names, ["encoder", "layers[0]", "layers[1]"])
        sequence = Module(Net(), Other(Net()), parameters=0)
        self.assertEqual([call(part) for part in sequence.parts.values()], ["sequence[0]", "sequence[1]"])

    def test_the_only_part_with_parameters_of_a_module(self):
        agent = Agent(actor=Net(), metric=Other(parameters=0))
        agent.critic = agent.actor
        self.assertEqual(agent.act()[0], "Net")

    def test_attributes_of_an_object(self):
        trainer = Trainer(generator=Net(), critic=Net(), steps=3)
        self.assertEqual([trainer.step("critic"), trainer.step("generator")], ["critic", "generator"])

    def test_objects_whose_attributes_are_functions_of_the_program(self):
        class Proxy:
            __slots__ = ()

            def step(self, nets):
                return [call(net) for net in nets]

            def __getattr__(self, name):
                raise RuntimeError(name)

        def names():
            return Proxy().step(iter([Net(), Other()]))

        self.assertEqual(names(), ["Net", "Other"])

    def test_without_a_variable_they_are_numbered_in_the_order_of_their_calls(self):
        def make(count):
            return iter([Net() for _ in range(count)])

        kept = []
        names = []
        for net in make(3):
            kept.append((0, [net]))  # nested too deep to be found
            names.append(call(net))
        self.assertEqual(names, ["Net", "Net#2", "Net#3"])

    def test_the_same_variable_for_several_roots(self):
        names = []
        kept = []
        other = Net()
        for _ in range(2):
            net = Net()
            kept.append([net])
            names.append(call(net))
        self.assertEqual(names, ["net", "net#2"])
        self.assertEqual(call(other), "other")

    def test_names_that_reports_shorten_are_not_used(self):
        net_1, net_2 = Net(), Net()
        self.assertEqual([call(net_1), call(net_2)], ["Net", "Net#2"])

    def test_a_name_is_free_once_its_root_does_not_exist(self):
        def once():
            return call(Net())

        self.assertEqual([once(), once(), once()], ["Net", "Net", "Net"])

    def test_variables_are_not_kept_alive(self):
        class Value:
            pass

        def train():
            value = Value()
            reference = weakref.ref(value)
            actor, critic = Net(), Net()
            self.assertEqual([call(actor), call(critic)], ["actor", "critic"])
            del value
            return reference()

        gc.disable()
        self.addCleanup(gc.enable)
        self.assertIsNone(train())

    def test_the_programs_own_locals_are_left_alone(self):
        def train():
            actor, critic = Net(), Net()
            seen = locals()
            names = [call(actor), call(critic)]
            return names, seen.get("actor") is actor

        self.assertEqual(train(), (["actor", "critic"], True))


if __name__ == "__main__":
    unittest.main()
