"""Steps: what each is in Python, and the mistakes in them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_clawperator import ConfigurationError
from pytest_clawperator.redaction import SECRETS

ReadSteps = Callable[[str], list[str]]


@pytest.mark.parametrize(
    ("step", "python"),
    [
        ("- back", "clawperator.back()"),
        ("- back:", "clawperator.back()"),
        ("- open_app: com.example.shop", "clawperator.open_app('com.example.shop')"),
        ("- open_app: {package: a.b}", "clawperator.open_app('a.b')"),
        ("- click: OK", "clawperator.click(text='OK')"),
        ("- click: {text: OK, timeout: 2.5}", "clawperator.click(text='OK', timeout=2.5)"),
        ("- click: {at: [540, 1200]}", "clawperator.click(at=(540, 1200))"),
        (
            "- click: {text: OK, within: {id: dialog}}",
            "clawperator.click(text='OK', within=clawperator.node(id='dialog'))",
        ),
        (
            "- click: {id: row, has: Item 3, nth: -1}",
            "clawperator.click(clawperator.node(id='row', has=clawperator.node(text='Item 3'))"
            ".nth(-1))",
        ),
        (
            "- click: {id: row, nth: 1, within: {id: list}}",
            "clawperator.click(clawperator.node(id='row').nth(1),"
            " within=clawperator.node(id='list'))",
        ),
        (
            "- wait_for_node: {text: x, has: {id: list}}",
            "clawperator.wait_for_node(clawperator.node(text='x',"
            " has=clawperator.node(id='list')))",
        ),
        (
            "- enter_text: {value: ada, id: email, secret: true}",
            "clawperator.enter_text('ada', id='email', secret=True)",
        ),
        (
            "- enter_text: {value: ada, id: email, nth: 1}",
            "clawperator.enter_text('ada', clawperator.node(id='email').nth(1))",
        ),
        ("- scroll: up", "clawperator.scroll(direction='up')"),
        ("- scroll_until:", "clawperator.scroll_until()"),
        (
            "- scroll_until: {text: About, within: {id: list}, max_scrolls: 3}",
            "clawperator.scroll_until(text='About', within=clawperator.node(id='list'),"
            " max_scrolls=3)",
        ),
        ("- scroll_to_top: {within: {id: list}}",
         "clawperator.scroll_to_top(within=clawperator.node(id='list'))"),
        ("- sleep: 0.5", "clawperator.sleep(0.5)"),
        ("- double_click: Photo", "clawperator.node(text='Photo').double_click()"),
        (
            "- swipe: {text: Mail, nth: 0, direction: left}",
            "clawperator.node(text='Mail').nth(0).swipe('left')",
        ),
        (
            "- drag_to: {text: Draft, other: {id: bin}}",
            "clawperator.node(text='Draft').drag_to(clawperator.node(id='bin'))",
        ),
        (
            "- drag_to: {text: Draft, other: [540, 1200]}",
            "clawperator.node(text='Draft').drag_to((540, 1200))",
        ),
        ("- device: {key_event: enter}", "clawperator.device.key_event('enter')"),
        ("- device: {key_event: 66}", "clawperator.device.key_event(66)"),
        ("- device: {orientation: landscape}", "clawperator.device.orientation = 'landscape'"),
        ("- device: {double_tap: [5, 6]}", "clawperator.device.double_tap((5, 6))"),
        (
            "- device: {grant: {package: a.b, permissions: [p.A, p.B]}}",
            "clawperator.device.grant('a.b', 'p.A', 'p.B')",
        ),
        ("- device: {restore: }", "clawperator.device.restore()"),
        (
            "- payload: [{id: snap, type: snapshot_ui}]",
            "clawperator.execute([{'id': 'snap', 'type': 'snapshot_ui'}]).raise_for_status()",
        ),
        (
            "- payload: [{id: snap, type: snapshot_ui}]\n  as: shot",
            "shot = clawperator.execute([{'id': 'snap', 'type': 'snapshot_ui'}])",
        ),
        ("- read_value: Version\n  as: version",
         "version = clawperator.read_value(label='Version')"),
        ("- read_value: {text: Version}", "clawperator.read_value(text='Version')"),
        ("- title: Go ${name}\n  steps: [home, back]",
         "with clawperator.step(f'Go {name}'):\n    clawperator.home()\n    clawperator.back()"),
        ("- expecting_crash: [home, back]",
         "with clawperator.expecting_crash():\n    clawperator.home()\n    clawperator.back()"),
        (
            "- skill: com.example.climate\n  artifact: status\n  with: {zone: 2}",
            "clawperator.run_artifact('com.example.climate', 'status', zone=2).raise_for_status()",
        ),
        ("- click: ${name}", "clawperator.click(text=name)"),
        ("- click: {text: 'Hi ${name}!', nth: '${index}'}",
         "clawperator.click(clawperator.node(text=f'Hi {name}!').nth(index))"),
        ("- click: costs $5 or $${5}", "clawperator.click(text='costs $5 or ${5}')"),
        ("""- click: '"}) + __import__("os")'""",
         """clawperator.click(text='"}) + __import__("os")')"""),
    ],
)  # fmt: skip
def test_a_step_is_a_call_of_the_client(step: str, python: str, read_steps: ReadSteps) -> None:
    """Each form of a step is the call that one would write in Python; texts stay texts."""
    assert read_steps(step) == [python]


def test_a_step_may_have_a_condition(read_steps: ReadSteps) -> None:
    """Then it is done if the node is on the screen."""
    assert read_steps("- home\n- {click: Not now, when: Not now}") == [
        "clawperator.home()",
        "if clawperator.node(text='Not now').exists():\n    clawperator.click(text='Not now')",
    ]


@pytest.mark.parametrize(
    ("step", "python"),
    [
        ("Welcome", ["expect(clawperator.node(text='Welcome')).to_be_visible()"]),
        (
            "{id: total, timeout: 20}",
            ["expect(clawperator.node(id='total')).to_be_visible(timeout=20)"],
        ),
        (
            "{id: total, to_be_enabled: true, to_have_text: $12}",
            [
                "expect(clawperator.node(id='total')).to_be_enabled()",
                "expect(clawperator.node(id='total')).to_have_text('$12')",
            ],
        ),
        (
            "{id: row, nth: 1, within: {id: list}, not_to_be_checked: }",
            [
                "expect(clawperator.node(id='row', within=clawperator.node(id='list')).nth(1))"
                ".not_to_be_checked()"
            ],
        ),
        (
            "{id: total, to_have_text: {pattern: '^[$]'}}",
            ["expect(clawperator.node(id='total')).to_have_text(re.compile('^[$]'))"],
        ),
        (
            "{id: name, to_have_text: [Tea, {pattern: Mil}]}",
            ["expect(clawperator.node(id='name')).to_have_text(['Tea', re.compile('Mil')])"],
        ),
        (
            "{id: row, to_have_count: 3, soft: true, message: the list}",
            ["expect.soft(clawperator.node(id='row'), 'the list').to_have_count(3)"],
        ),
        (
            "{id: map, to_be_in_viewport: {ratio: 0.5}}",
            ["expect(clawperator.node(id='map')).to_be_in_viewport(ratio=0.5)"],
        ),
        ("{to_be_in_app: a.b}", ["expect(clawperator).to_be_in_app('a.b')"]),
        ("{to_have_node: {text: Wi-Fi}}", ["expect(clawperator).to_have_node(text='Wi-Fi')"]),
        (
            "{to_match_tree: {golden: start, ignore: [{id: clock}]}}",
            ["expect(clawperator).to_match_tree('start', ignore=[clawperator.node(id='clock')])"],
        ),
        ("{result: name, to_have_succeeded: true}", ["expect(name).to_have_succeeded()"]),
        (
            "{result: name, to_have_step: {id: snap, success: true}}",
            ["expect(name).to_have_step('snap', success=True)"],
        ),
        (
            "{result: name, to_have_data: {step: snap, foreground_package: {pattern: com}}}",
            ["expect(name).to_have_data('snap', foreground_package=re.compile('com'))"],
        ),
    ],
)
def test_an_expectation_has_the_names_of_python(
    step: str, python: list[str], read_steps: ReadSteps
) -> None:
    """Nodes, screens and results are expected to be something, each check by its own name."""
    assert read_steps(f"- expect: {step}") == python


@pytest.mark.parametrize(
    ("step", "column", "message"),
    [
        ("- clik: OK", 5, 'there is no step "clik"; did you mean `click`?'),
        ("- tap: OK", 5, 'there is no step "tap"; did you mean `click`?'),
        ("- tapOn: OK", 5, 'there is no step "tapOn"; here it is `click: OK`'),
        ("- assert_visible: OK", 5, "here it is `expect: OK`"),
        ("- snapshot", 5, "`snapshot` is not a step: `expect:` takes its own snapshots"),
        ("- {click: OK, back: }", 17, "a step does one thing, and `click` is one already"),
        ("- {title: x}", 5, "a step has one word"),
        ("- 5", 5, "a step is wanted, such as `click: OK`, found number 5"),
        ("- [OK]", 5, "a step is wanted, such as `click: OK`, found a list"),
        ("- click: 5", 12, 'or its text is wanted, found number 5; as a text it is "5"'),
        ("- click: [OK]", 12, "click: a node such as {id: total}, or its text is wanted"),
        ("- click: {txt: OK}", 13, '`click` has no "txt"; did you mean `text`?'),
        (
            "- click: {text: 5}",
            19,
            'text: a text that is not blank is wanted, found number 5; as a text it is "5"',
        ),
        ("- click: {nth: 1}", 13, "`nth` narrows a node down, and none is named"),
        ("- click:", 5, "`click` needs a node: text, text_contains, id, desc"),
        ("- click: {within: {nth: 1}}", 12, "`click` needs a node"),
        ("- click: {text: a, timeout: soon}", 31, 'a number (0 to 600) is wanted, found "soon"'),
        ("- click: {text: a, timeout: true}", 31, "a number (0 to 600) is wanted, found true"),
        ("- click: {at: [1]}", 17, "a point such as [540, 1200] is wanted, found a list"),
        ("- enter_text: ada", 17, "`enter_text` needs a node"),
        ("- enter_text: {id: email}", 17, "`enter_text` needs `value`"),
        ("- press_key: enter", 16, 'one of back, home, recents is wanted, found "enter"'),
        ("- back: 3", 11, "`back` takes no value: leave it empty, or write true"),
        ("- expect: {id: a, not_to_be_visible: 'true'}", 40, "`not_to_be_visible` takes no value"),
        ("- expect: {id: a, to_have_text: {patern: x}}", 36, "did you mean `pattern`?"),
        (
            "- expect: {id: a, to_have_text: {pattern: x, ignore_case: true}}",
            36,
            "beside other keys a pattern is written `expected: {pattern: ...}`",
        ),
        ("- scroll_to_top: 3", 20, "`scroll_to_top` takes no value by itself; its keys: timeout"),
        ("- device: {reboot: true}", 14, '`device` has no "reboot"'),
        ("- device: enter", 13, "device: one thing to do is wanted"),
        ("- expect: {text: a, to_be_visibel: true}", 23, "did you mean `to_be_visible`?"),
        ("- expect: {text: a, to_be_visible: false}", 38, "write `not_to_be_visible: true`"),
        ("- expect: {text: a, to_be_in_app: a.b}", 23, "cannot be expected of a node"),
        ("- expect: {text: a, to_have_text: }", 37, "`to_have_text` needs `expected`"),
        ("- expect: {timeout: 3}", 13, "what is expected?"),
        ("- expect: {result: name, to_have_failed: , timeout: 3}", 46, "waits for nothing"),
        ("- expect: [OK]", 13, "a node and what is expected of it is wanted, found a list"),
        ("- {click: OK, as: x}", 17, "`as` belongs to read_all_text, read_text, read_value"),
        ("- {read_text: OK, as: class}", 25, "it is reserved in Python"),
        ("- {read_text: OK, as: 1a}", 25, "use a letter first"),
        ("- click: ${nmae}", 12, "there is no variable `nmae`; did you mean `name`?"),
        ("- click: ${}", 12, "`${` does not begin a variable; write $${"),
        ("- {click: OK, when: 5}", 23, "when: a node such as {id: total}, or its text is wanted"),
        ("- payload: [{id: a, type: clik}]", 14, "did you mean `click`?"),
        ("- payload: [{id: a, type: sleep, params: {x: 1}}]", 44, "unknown key x"),
        ("- payload: now", 14, "payload: a payload or a list of actions is wanted"),
        ("- skill: a.b", 5, "name one under `artifact:`"),
        ("- steps: []", 12, "steps: a list of steps is wanted, found an empty list"),
        ("- {title: '', back: }", 13, "title: describe what the step does"),
        # A blank text describes no node.
        ("- expect: ''", 13, 'or its text is wanted, found ""'),
        ("- expect: {text: ''}", 20, 'text: a text that is not blank is wanted, found ""'),
        ("- click: ' '", 12, "a text that is not blank is wanted"),
        ("- click: {id: row, desc: ''}", 28, "desc: a text that is not blank is wanted"),
        ("- click: {id: row, within: ''}", 30, "within: a node such as {id: total}"),
        ("- click: {id: row, has: {text_contains: ''}}", 43, "text_contains: a text that is not"),
        ("- {back: , when: ''}", 20, "when: a node such as {id: total}"),
        ("- double_click: ''", 19, "a text that is not blank is wanted"),
        ("- drag_to: {id: a, other: {id: ''}}", 34, "id: a text that is not blank is wanted"),
        ("- read_value: ''", 5, "`read_value` does not take this: text= must not be empty"),
        # A role that is misspelt, or that no snapshot shows.
        ("- click: {role: buton}", 19, 'role: there is no role "buton". Did you mean button?'),
        ("- expect: {role: buton}", 20, "Did you mean button?"),
        ("- {back: , when: {role: widget}}", 27, "There are button, checkbox"),
        ("- expect: {id: a, within: {role: buton}}", 36, "Did you mean button?"),
        ("- expect: {role: listitem}", 13, "does not show which nodes are"),
        ("- expect: {id: a, to_have_role: buton}", 21, "Did you mean 'button'?"),
        ("- expect: {to_have_node: {role: buton}}", 35, "Did you mean button?"),
        # Numbers out of their limits.
        ("- expect: {id: a, timeout: -1}", 30, "timeout: a number (0 to 600) is wanted"),
        ("- click: {id: a, timeout: 601}", 29, "timeout: a number (0 to 600) is wanted"),
        ("- click: {id: a, timeout: .nan}", 29, "timeout: a number (0 to 600)"),
        ("- click: {id: '${name}', timeout: -1}", 37, "timeout: a number (0 to 600)"),
        ("- expect: {id: a, to_have_count: -1}", 21, "a count is a whole number, 0 or more"),
        ("- expect: {id: a, to_be_in_viewport: {ratio: 2}}", 21, "ratio= must be more than 0"),
        ("- scroll_until: {text: a, max_scrolls: -1}", 5, "scrolls 1 to 200 times, not -1"),
        ("- scroll: {distance_ratio: 7}", 5, "distanceRatio"),
        ("- sleep: -1", 5, "sleep"),
        ("- swipe: {id: a, direction: up, duration: -1}", 5, "duration"),
        ("- swipe: {id: a, direction: up, distance_ratio: 2}", 5, "distance_ratio=2"),
        ("- scroll_and_click: {id: a, has: b, settle_delay: -1}", 5, "settle"),
        ("- run_skill: {skill_id: a, timeout: -1}", 39, "timeout: a number (at least 0)"),
        # Texts that check nothing, or cannot be.
        ("- expect: {id: a, to_contain_text: ''}", 21, "every text contains the empty text"),
        ("- expect: {id: a, to_contain_text: []}", 21, "Write to_have_count(0)"),
        ("- expect: {id: a, to_have_text: {pattern: '.*'}}", 21, "is found in every text"),
        ("- expect: {id: a, to_have_text: {pattern: '('}}", 45, "this is not a pattern: missing )"),
        ("- expect: {result: name, to_have_data: {step: snap}}", 28, "no data are expected"),
        (
            "- expect: {result: name, to_have_failed: {code: NODE_NOT_FOUNT}}",
            28,
            "Did you mean NODE_NOT_FOUND?",
        ),
        ("- expect: {to_be_in_app: ''}", 14, "an app is named by its package"),
        ("- open_app: ''", 5, "is not the name of an Android package"),
        ("- wait_for_navigation: {package: '', text: a}", 5, "is not the name of an Android"),
        ("- run_skill: {skill_id: a, expect_contains: ''}", 5, "a text that is not empty"),
        ("- enter_text: {value: '', id: email}", 5, "enter_text"),
        ("- device: {key_event: no such key}", 14, "key"),
        ("- device: {clear_data: ''}", 14, "is not the name of an Android package"),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    step: str, column: int, message: str, read_steps: ReadSteps
) -> None:
    """A mistake is an error with a code, with file, line and column, and what is allowed."""
    with pytest.raises(ConfigurationError) as caught:
        read_steps(step)

    assert caught.value.code == "TEST_FILE_INVALID"
    assert f"test_it.claw.yaml:3:{column}: " in str(caught.value)
    assert message in str(caught.value)


def test_all_mistakes_are_reported_together(read_steps: ReadSteps) -> None:
    """What follows from another mistake is not reported."""
    with pytest.raises(ConfigurationError) as caught:
        read_steps(
            """
            - clik: OK
            - {read_text: {idd: total}, as: total}
            - title: inner
              steps:
                - click: ${total}
                - back: 3
            """
        )

    lines = [line for line in str(caught.value).splitlines() if "test_it.claw.yaml:" in line]
    assert [int(line.partition(".yaml:")[2].partition(":")[0]) for line in lines] == [3, 4, 8]


def test_a_result_under_a_condition_is_unknown_after_it(read_steps: ReadSteps) -> None:
    """What a step sets that may not run cannot be used later."""
    with pytest.raises(ConfigurationError, match="there is no variable `total`"):
        read_steps(
            """
            - read_text: {id: total}
              as: total
              when: Total
            - click: ${total}
            """
        )


@pytest.mark.parametrize(
    "step",
    [
        "- click: {at: '${name}'}",
        "- click: {text: '${name}', timeout: '${index}'}",
        "- open_app: ${name}",
        "- enter_text: {value: '${name}', id: email}",
        "- read_value: ${name}",
        "- wait_for_navigation: {package: '${name}'}",
        "- swipe: {text: '${name}', direction: left}",
        "- device: {key_event: '${name}'}",
        "- device: {orientation: '${name}'}",
        "- device: {grant: {package: a.b, permissions: '${name}'}}",
        "- device: {push: {source: missing.txt, path: /sdcard/a}}",
        "- device: {install: missing.apk}",
        "- expect: {id: '${name}', role: '${name}', to_have_count: '${index}'}",
        "- expect: {id: a, nth: '${index}', to_have_text: ['${name}']}",
        "- expect: {id: a, to_have_text: ''}",
        "- expect: {id: a, to_have_text: {pattern: '${name}'}}",
        "- expect: {result: name, to_have_data: {step: snap, version: '${name}'}}",
        "- expect: {to_match_tree: not written yet}",
        "- run_skill: {skill_id: a.b.c, args: [1], timeout: 900}",
        "- screenshot: missing/start.png",
        "- pause",
    ],
)
def test_what_only_a_run_knows_is_no_mistake(step: str, read_steps: ReadSteps) -> None:
    """Variables, files and the device may be as they should be when the test runs."""
    assert len(read_steps(step)) == 1


def test_a_secret_is_not_hidden_by_reading_it(read_steps: ReadSteps) -> None:
    """A run without this test shows the text, which may be an ordinary word."""
    read_steps("- enter_text: {value: rehearsed-word, id: email, secret: true}")

    assert not SECRETS.is_in("rehearsed-word")
