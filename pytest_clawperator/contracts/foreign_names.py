"""What other tools call things, and what they are called here.

Each table is about one kind of object. A row has our call, and the names that people
know from Appium, Selenium, uiautomator2, Playwright, Espresso and Maestro, in snake case; camel
case works as well. A call that begins with a dot is a method of the same object. If there is no
call for it, a sentence, which begins with a capital letter, explains what to do instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_clawperator.contracts.wording import closest

_PACKAGE = __name__.partition(".")[0]

NO_PINCH = (
    "A pinch takes two fingers, and adb has one: zoom with the app's own buttons, or by a double"
    " tap where the app knows that."
)


def _by_their_names(rows: Mapping[str, str]) -> dict[str, str]:
    """Turn rows of our call and their names into a map from each of their names to our call."""
    return {plain_name(name): ours for ours, names in rows.items() for name in names.split()}


def plain_name(name: str) -> str:
    """Return a name in lower case without underscores: camel and snake case become equal."""
    return name.replace("_", "").lower()


_ACTIONS = {
    '.click(text="OK")': "tap touch press_on tap_on click_on click_text tap_text",
    '.long_click(text="Item 3")': "long_press long_tap long_press_on press_and_hold",
    '.enter_text("ada@example.com", id="email")': """fill type type_text input_text send_keys
        set_text set_value replace_text press_sequentially write""",
    '.read_text(id="total")': "get_text text_content inner_text text_of copy_text_from",
    '.wait_for_node(text="Welcome", timeout=20)': """wait wait_until wait_for wait_for_selector
        wait_for_element wait_for_text wait_until_visible extended_wait_until wait_for_visible""",
    '.press_key("back")': "press press_back go_back hide_keyboard navigate_back hide_soft_keyboard",
    '.open_app("com.android.settings")': """app_start launch_app start_app activate_app launch
        start_activity run_app""",
    '.close_app("com.android.settings")': "app_stop terminate_app stop_app kill_app force_stop",
    '.open_uri("shop://item/3")': "open_link open_url deep_link goto navigate get",
    '.scroll("down")': "scroll_down scroll_up scroll_forward fling",
    '.scroll_until(text="About phone")': """scroll_to scroll_until_visible scroll_to_element
        scroll_into_view_if_needed scroll_into_view""",
    ".snapshot()": "dump dump_hierarchy get_page_source page_source hierarchy source window_dump",
    ".sleep(0.5)": "wait_for_timeout delay",
    'claw.device.key_event("enter")': """keyevent key_event press_keycode press_key_code
        press_enter keyboard""",
    'claw.node(id="photo").double_click()': "double_click double_tap dblclick double_tap_on",
    'claw.node(text="Draft").drag_to(claw.node(id="bin"))': "drag drag_and_drop drag_to drag_by",
    NO_PINCH: "pinch pinch_in pinch_out pinch_open pinch_close zoom zoom_in zoom_out multi_touch",
    "claw.device.toasts()": "toast get_toast wait_for_toast toasts toast_message",
}

_EXPECTATIONS_OF_CLIENT = {
    'expect(claw.node(text="OK")).to_be_visible()': """assert_visible assert_that is_visible
        is_displayed assert_text should_see verify assert_displayed""",
    'expect(claw.node(text="OK")).not_to_be_visible()': """assert_not_visible wait_gone
        wait_until_gone wait_until_not_visible is_hidden should_not_see""",
}

CLIENT = _by_their_names(
    {
        **_ACTIONS,
        **_EXPECTATIONS_OF_CLIENT,
        '.node(text="OK")': "get_by_text by_text with_text text find find_by_text",
        '.node(id="total")': """find_element locator query_selector on_view element get_by_id
            get_by_test_id with_id selector by_id get_element""",
        '.node(id="row").all()': "find_elements find_all query_selector_all elements",
        '.node(desc="Search")': "get_by_label get_by_alt_text get_by_title by_description",
        '.node(role="button", text="OK")': "get_by_role",
        '.node(role="textfield", text="Email")': "get_by_placeholder",
        '.node(text="Not now").exists()': "exists has_text is_present element_exists",
        '.node(id="search").clear()': "clear_text erase_text clear",
        ".snapshot().xpath(\"//node[@text='OK']\")": "xpath find_by_xpath",
        '.screenshot("screen.png")': """save_screenshot get_screenshot_as_file
            get_screenshot_as_png take_screenshot""",
        '.device.shell("getprop")': "shell adb adb_shell execute_script mobile",
        ".timeout = 10": """implicitly_wait set_default_timeout set_timeout implicit_wait
            wait_timeout""",
        '.device.orientation = "landscape"': "orientation set_orientation rotate rotation",
        ".device.current_package()": "current_package current_app app_current current_activity",
        '.device.install("shop.apk")': "install_app app_install install",
        '.device.clear_data("com.example.shop")': "app_clear clear_app clear_state reset_app reset",
        ".device.swipe((500, 1800), (500, 400))": "swipe swipe_ext flick",
        '.node(text="Old mail").swipe("left")': "swipe_left swipe_right swipe_up swipe_down",
        ".device.info": "info device_info capabilities desired_capabilities",
        ".close()": "quit stop disconnect",
        '.wait_for_navigation(package="com.android.settings")': "wait_activity wait_for_url "
        "wait_for_load_state app_wait",
    }
)

BATCH = _by_their_names(
    {
        **_ACTIONS,
        'A batch takes keywords and locators of the client, as in b.click(text="OK").': """node
            find_element get_by_text locator""",
        "The batch is sent at the end of its `with` block.": "execute run send perform commit",
        **_EXPECTATIONS_OF_CLIENT,
    }
)

LOCATOR = _by_their_names(
    {
        ".click()": "tap touch press check uncheck set_checked select toggle click_exists",
        ".long_click()": "long_press long_tap press_and_hold",
        ".double_click()": "double_tap dblclick",
        '.drag_to(claw.node(id="bin"))': "drag drag_and_drop drag_by move_to",
        '.swipe("left")': "swipe_left swipe_right swipe_up swipe_down fling flick",
        '.enter_text("ada@example.com")': """fill type type_text input_text send_keys set_text
            set_value replace_text press_sequentially write""",
        ".read()": "text get_text text_content inner_text input_value read_text value",
        ".clear()": "clear_text erase_text",
        ".exists()": "is_visible is_displayed is_present is_attached is_hidden",
        ".wait(timeout=20)": "wait_for wait_until wait_for_visible must_wait",
        ".all()": "find_elements find_all element_handles elements",
        '.node(text="OK")': """get_by_text find_element find locator child get_by_role
            get_by_label get_by_test_id query_selector filter descendant sibling""",
        ".bounds()": "bounding_box rect location size center",
        ".scroll_into_view()": "scroll_to scroll_into_view_if_needed scroll_until_visible",
        'expect(claw.node(id="total")).not_to_be_visible()': "wait_gone wait_until_gone",
        'expect(claw.node(id="total")).to_be_visible()': "should assert_visible assert_exists",
        'expect(claw.node(id="total")).to_be_enabled()': "is_enabled is_disabled is_editable",
        'expect(claw.node(id="total")).to_be_checked()': "is_checked is_selected",
        "Attributes are those of its nodes, as in claw.node(...).all()[0].checked.": """
            get_attribute attribute attributes get_property info""",
        'claw.screenshot("screen.png")': "screenshot screenshot_as_png",
        'claw.device.key_event("enter")': "press_key key_event keyevent press_enter submit",
        NO_PINCH: "pinch pinch_in pinch_out zoom",
        "A phone has no mouse, so nothing hovers.": "hover move_to_element",
    }
)

EXPECT = _by_their_names(
    {
        ".to_be_visible()": """is_visible is_displayed to_be_displayed assert_visible
            to_be_attached to_be_present exists matches""",
        ".not_to_be_visible()": "is_not_visible to_not_be_visible assert_not_visible to_be_gone",
        '.to_have_text("OK")': """has_text text_to_be to_equal to_be has_exact_text
            to_have_exact_text is_equal_to to_have_label""",
        '.to_contain_text("OK")': "contains_text has_substring to_contain to_have_substring",
        '.to_have_desc("Search")': """to_have_accessible_name to_have_accessible_description
            has_content_description to_have_content_description""",
        '.to_have_value("16")': "to_have_values to_have_input_value",
        ".to_be_enabled()": "is_enabled to_be_editable to_be_clickable is_clickable",
        ".to_be_checked()": "is_checked to_be_on",
        ".to_have_count(3)": "has_count to_have_length count",
        "Write the opposite as one word, as in .not_to_be_visible().": "not_ is_not does_not",
    }
)

EXPECTING = _by_their_names(
    {
        ".set_timeout(10)": "timeout default_timeout set_default_timeout set_options",
        ".poll(lambda: claw.device.toasts()).to_equal([])": "wait_until eventually until wait",
    }
)

EXPECT_SCREEN = _by_their_names(
    {
        '.to_have_node(text="OK")': """to_have_text to_contain_text to_be_visible to_have_element
            to_contain assert_visible has_text""",
        '.not_to_have_node(text="OK")': "not_to_have_text not_to_be_visible assert_not_visible",
        '.to_be_in_app("com.android.settings")': "to_have_url to_have_title to_have_activity "
        "to_have_package",
        '.to_match_screenshot("start")': "to_have_screenshot to_match_snapshot",
        '.to_match_tree("start")': "to_match_aria_snapshot to_match",
        "Write the opposite as one word, as in .not_to_have_node().": "not_ is_not",
    }
)

EXPECT_ENVELOPE = _by_their_names(
    {
        ".to_have_succeeded()": "to_be_ok to_succeed to_pass to_be_truthy succeeded to_be_success",
        ".to_have_failed()": "to_fail to_be_failed failed",
        "Write the opposite as one word, as in .not_to_have_failed().": "not_ is_not",
    }
)

EXPECT_POLL = _by_their_names(
    {
        ".to_equal(3)": "to_be is_equal_to to_have_value equals to_match",
        ".to_be_truthy()": "to_be_true is_true to_be_ok",
        ".not_to_be_truthy()": "to_be_false to_be_falsy is_false to_be_none",
        "Write the opposite as one word, as in .not_to_equal().": "not_ is_not",
    }
)

SNAPSHOT = _by_their_names(
    {
        '.find(text="OK")': """get_by_text find_element node locator query_selector
            find_by_text get get_by_id select""",
        '"OK" in snapshot': "exists has_text contains contains_text is_visible",
        '.find_all(id="row")': "find_elements query_selector_all all get_all select_all",
        ".xml": "source page_source dump tree hierarchy to_xml",
        ".nodes": "elements texts children descendants",
        "print(snapshot)": "outline print show pretty to_string",
        ".foreground_package": "package app current_package",
        "A snapshot is a screen of the past: act with claw.click(node), or"
        ' claw.click(text="OK").': "click tap long_click enter_text fill scroll swipe",
    }
)

NODE = _by_their_names(
    {
        "claw.click(node)": "click tap touch press check",
        "claw.long_click(node)": "long_click long_press long_tap",
        'claw.enter_text("ada@example.com", node)': "enter_text fill type send_keys set_text clear",
        ".text": "get_text text_content inner_text value read read_text",
        ".content_desc": "desc description content_description accessibility_id",
        ".resource_id": "id resource_name view_id",
        ".class_name": "tag_name class_ type_",
        ".is_on_screen": "is_displayed is_visible visible displayed",
        ".enabled": "is_enabled",
        ".checked": "is_checked",
        ".selected": "is_selected",
        ".focused": "is_focused",
        ".bounds": "rect bounding_box location size",
        ".bounds.center": "center",
        '.find(text="OK")': "find_element get_by_text node locator child query_selector",
        '.find_all(id="row")': "find_elements all elements",
        "Attributes are Python's own, as in node.checked or node.bounds.": """get_attribute attrib
            get info""",
    }
)

DEVICE = _by_their_names(
    {
        "claw.click(at=(540, 1200))": "click tap touch",
        "claw.long_click(at=(540, 1200))": "long_click long_press",
        ".double_tap((540, 1200))": "double_click dblclick",
        ".drag((540, 600), (540, 1400))": "drag_and_drop draganddrop",
        ".swipe((540, 1800), (540, 400))": "swipe_ext swipe_points flick fling scroll",
        '.key_event("enter")': "press press_key press_keycode send_key",
        '.key_event("back")': "back press_back",
        'claw.enter_text("ada@example.com", id="email")': "send_keys type input_text set_text text",
        'claw.screenshot("screen.png")': "screenshot screencap save_screenshot",
        'claw.open_app("com.android.settings")': "app_start open_app start_app launch_app "
        "start_activity activate_app",
        'claw.close_app("com.android.settings")': "app_stop close_app stop_app terminate_app",
        "claw.snapshot()": "snapshot dump dump_hierarchy page_source",
        '.install("shop.apk")': "install_app app_install",
        '.uninstall("com.example.shop")': "remove_app app_uninstall uninstall_app",
        '.clear_data("com.example.shop")': "app_clear clear_app pm_clear",
        '.is_installed("com.example.shop")': "is_app_installed app_info",
        ".current_package()": "current_app app_current current_activity",
        '.orientation = "landscape"': "rotate set_orientation rotation freeze_rotation",
        ".airplane_mode = True": "set_airplane_mode toggle_airplane_mode set_network_connection",
        '.shell("getprop")': "adb adb_shell execute run getprop execute_script",
        '.push(b"hello", "/sdcard/hello.txt")': "push_file",
        '.pull("/sdcard/hello.txt")': "pull_file",
        '.grant("com.example.shop", "android.permission.CAMERA")': "grant_permission "
        "grant_permissions pm_grant",
        ".info": "device_info properties",
        ".info.size": "window_size get_window_size screen_size size display_size",
        NO_PINCH: "pinch pinch_in pinch_out zoom multi_touch",
    }
)

#: Keywords of a call, each with an example of the keyword that is meant.
KEYWORDS = _by_their_names(
    {
        "id='total'": """resource_id res_id view_id test_id test_tag rid resource_name by_id
            resource""",
        "text_contains='Total'": """has_text partial_text contains containing has_substring
            substring""",
        "desc='Search'": """content_desc content_description description accessibility_id
            accessibility_label label alt_text title a11y content_desc_equals""",
        "desc_contains='Sea'": """description_contains content_desc_contains
            content_description_contains""",
        "text='OK'": "name value exact_text with_text text_equals string caption placeholder hint",
        "role='button'": "class_name class_ cls type widget tag_name kind",
        "text=re.compile('^Total')": """text_matches text_starts_with matches regex pattern
            starts_with text_ends_with""",
        "desc=re.compile('^Sea')": "description_matches description_starts_with",
        "id=re.compile('^row_')": "resource_id_matches",
        "timeout=5": "timeout_ms timeout_seconds wait wait_time timeout_sec max_wait",
        "at=(540, 1200)": "x y point position coordinates xy coord",
        "claw.node(id='row').nth(2)": "index instance nth position_index",
        "within=claw.node(id='cart')": "parent container inside ancestor below",
        "has=claw.node(text='Item 3')": "child has_descendant contains_child has_child "
        "contains_descendants",
        "claw.snapshot().xpath(\"//node[@text='OK']\")": "xpath css css_selector locator selector",
        "expect(claw.node(id='total')).to_be_enabled()": "enabled clickable displayed visible",
        "expect(claw.node(id='total')).to_be_checked()": "checked selected checkable",
    }
)

#: Values of ``--claw-device``.
DEVICES = {
    "simulator": "sim",
    "simulated": "sim",
    "simulation": "sim",
    "virtual": "sim",
    "emu": "emulator",
    "avd": "emulator",
    "any": "auto",
    "first": "auto",
    "usb": "auto",
    "default": "auto",
    "connected": "auto",
}

#: Values of ``--claw-screenshot`` and the like.
WHEN = {
    "always": "on",
    "yes": "on",
    "true": "on",
    "never": "off",
    "no": "off",
    "false": "off",
    "retain-on-failure": "only-on-failure",
    "on-failure": "only-on-failure",
    "failure": "only-on-failure",
    "failed": "only-on-failure",
}


class HintsAtNames:
    """An object whose ``AttributeError`` suggests our name for a foreign or misspelt one.

    An attribute that does not exist cannot be set either; those of an object that are not
    private are declared in its class, unless that is a user's own. ``_own_word`` is what
    examples call such an object, ``_their_names`` one of the tables above.
    """

    __slots__ = ()

    _own_word: ClassVar[str]
    _their_names: ClassVar[Mapping[str, str]]

    # Type checkers would conclude that every attribute exists.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            __tracebackhide__ = True
            cls = type(self)
            if hasattr(cls, name):
                # A property of that name raised it, with a message of what is missing.
                return object.__getattribute__(self, name)
            raise _no_attribute(self, name)

        def __setattr__(self, name: str, value: Any) -> None:
            __tracebackhide__ = True
            cls = type(self)
            is_ours = cls.__module__.startswith(_PACKAGE)
            if is_ours and not name.startswith("_") and name not in _settable_names(cls):
                raise _no_attribute(self, name)
            super().__setattr__(name, value)


@cache
def _settable_names(cls: type) -> frozenset[str]:
    """Return the names that a class and its bases define or declare."""
    return frozenset(name for base in cls.__mro__ for name in (*vars(base), *get_annotations(base)))


def _no_attribute(thing: HintsAtNames, name: str) -> AttributeError:
    cls = type(thing)
    message = f"{cls.__name__!r} object has no attribute {name!r}"
    if not name.startswith("_"):
        names = [own for own in dir(thing) if not own.startswith("_")]
        message += name_hint(name, cls._their_names, names, own_word=cls._own_word)
    return AttributeError(message, name=name, obj=thing)


def name_hint(name: str, theirs: Mapping[str, str], names: list[str], *, own_word: str) -> str:
    """Return what to append to a message about an unknown name; empty without a suggestion."""
    ours = theirs.get(plain_name(name))
    if ours is not None:
        called = f"{own_word}{ours}" if ours.startswith(".") else ours
        return f". {ours[:-1]}" if is_sentence(ours) else f": here it is called {called}"
    near = closest(name, names)
    return f". Did you mean {near}?" if near else ""


def is_sentence(ours: str) -> bool:
    """Whether a row has an explanation in place of a call."""
    return ours[:1].isupper()
