"""A headless Chromium for tests of pages."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from labs import TIMEOUT

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:  # python3-selenium
    webdriver = None


class Browser:
    """One page at a time."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        """Loads a page."""
        self.driver.get(address)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, what: str) -> Any:
        """Waits until a script returns something that is true."""
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        try:
            return WebDriverWait(self.driver, TIMEOUT, 0.05).until(lambda _: self.ask(script))
        except TimeoutException:
            raise AssertionError(f"{what}; the page: {self.text('body')[:2000]}") from None

    def text(self, selector: str) -> str:
        """The text of the first element."""
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return str(self.ask(script, selector))

    def resize(self, width: int, height: int) -> None:
        """The page's size, as of a phone."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def errors(self) -> list[str]:
        """What the console has as errors since the last call."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]


@contextlib.contextmanager
def browser(*options: str) -> Iterator[Browser]:
    """Skips the test where there is no Chromium."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if webdriver is None or not chromium or not driver:
        pytest.skip("no chromium, chromium-driver or python3-selenium; setup/packages test")
    chosen = Options()
    chosen.binary_location = chromium
    for option in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        chosen.add_argument(f"--{option}")
    for option in options:
        chosen.add_argument(option)
    chosen.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(service=Service(driver), options=chosen)
    try:
        yield Browser(made)
    finally:
        made.quit()
