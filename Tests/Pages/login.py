"""Logs in and out, as a person does, without script."""

from visitor import Visitor


def login(browser, task):
    visitor = Visitor(browser, task["origin"], task["state"], java_script_enabled=False)
    page = visitor.page(360, 800)
    password = task["names"]["password"]

    def attempt(word):
        page.fill("input[name=password]", word)
        with page.expect_response(lambda answer: answer.request.method == "POST") as answer:
            page.click("button.main")
        page.wait_for_load_state()
        return answer.value.status

    def expect(text, condition):
        if not condition:
            visitor.violation(page, text)

    expect("a page is shown to anybody", page.goto("/m/mika/people").status == 401)
    expect("a wrong password is let in", attempt("a guess of mine") == 401)
    expect("it is not said", "Four tries more" in page.locator("[role=alert]").text_content())
    expect("the wrong field is not marked", page.locator("input[aria-invalid=true]").count() == 1)
    expect("the right password is refused", attempt(password) == 303)
    expect("it does not lead to the page that was wanted", page.url.endswith("/m/mika/people"))
    page.get_by_role("button", name="Log out").click()
    page.wait_for_load_state()
    expect("it does not log out", page.goto("/m/mika").status == 401)
    visitor.close()
