"""App files that several tests use."""

from __future__ import annotations

DEMO = "com.example.demo"
SYSTEM_UI = "com.android.systemui"

COUNTER = """\
state: {count: 0}
saved: {best: 0}
screens:
  main:
    title: "Counter {count}"
    items:
      - {text: "Count {count}, best {best}"}
      - {button: Add, on_tap: [{add: {count: 1}}, {set: {best: "{count}"}}]}
      - {button: Never, enabled_if: count > 99, on_tap: {set: {count: 0}}}
      - {text: Hold me, on_long_press: {set: {count: 50}}}
      - {button: Next, on_tap: {navigate: next}}
  next:
    title: Next
    activity: .NextActivity
    items:
      - {button: Back, on_tap: {back: true}}
      - {button: Again, on_tap: {navigate: next}}
      - {button: Finish, on_tap: {finish: true}}
      - {button: Start over, on_tap: {root: main}}
      - {button: Instead, on_tap: {replace: main}}
"""

TIMED = """\
state: {loading: true, blinks: 0}
screens:
  main:
    title: Main
    timers:
      - {after: 2s, do: {set: {loading: false}}}
      - {after: 3s, if: loading, do: {dialog: slow}}
      - {after: 5s, do: {navigate: done}}
    items:
      - {text: Early, appears_after: 800ms, disappears_after: 1.5s}
      - {text: Loading, visible_if: loading}
      - {button: Later, on_tap: {after: 400ms, do: {snackbar: Hello}}}
      - {button: Toast, on_tap: {toast: Crunch}}
  done:
    title: Done
dialogs:
  slow: {title: Slow}
"""

FORM = """\
state: {name: "", sent: "", changes: 0}
screens:
  main:
    menu:
      - {icon_button: Write, on_tap: {focus: name}}
    items:
      - field: Name
        id: name
        bind: name
        on_change: {add: {changes: 1}}
        on_submit: {set: {sent: "{name}"}}
      - {field: Notes, id: notes, multiline: true}
      - {field: Locked, id: locked, enabled_if: "false"}
      - {text: "Sent {sent}, {changes} changes"}
      - {list: rows, items: [{row: "R{number}", repeat: 50}]}
"""

DIALOGS = """\
permissions: [android.permission.POST_NOTIFICATIONS, android.permission.ACCESS_FINE_LOCATION]
state: {answer: none}
screens:
  main:
    title: Main
    items:
      - {text: "Answer {answer}"}
      - {button: Ask, on_tap: {dialog: {to: ask, with: {what: "all of it"}}}}
      - {button: Must, on_tap: {dialog: must}}
      - button: Notify
        on_tap:
          request_permission:
            permission: android.permission.POST_NOTIFICATIONS
            on_granted: {set: {answer: allowed}}
            on_denied: {set: {answer: denied}}
      - {button: Locate, on_tap: {request_permission: android.permission.ACCESS_FINE_LOCATION}}
      - {button: Crash, on_tap: [{crash: "java.lang.Error: boom"}, {set: {answer: survived}}]}
dialogs:
  ask:
    title: "Delete {what}?"
    text: This cannot be undone.
    args: {what: it}
    items: [{checkbox: Always}]
    on_cancel: {set: {answer: cancelled}}
    buttons:
      - {button: Delete, do: {set: {answer: "deleted {what}"}}}
      - {button: Keep, do: {set: {answer: kept}}}
  must:
    title: Really
    cancelable: false
    buttons: [{button: Fine}]
"""
# The items of one screen.
LONG_LIST = """\
- list: rows
  items:
    - {row: "Row {number}", summary: "of 200", repeat: 200}
"""
# The rest of the smallest app file.
MAIN = "screens:\n  main: {title: Main}\n"
