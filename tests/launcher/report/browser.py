# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven by the DevTools protocol over two pipes, so that only Python is needed."""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time


# number and text of each key
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), " ": (32, " "), "Home": (36, ""),
        "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}


def program():
    """Returns the path of Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def beyond_ten(descriptor):
    higher = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return higher


class Browser:
    """One page. `diagnostics`: errors, warnings and exceptions in its console."""

    def __init__(self, width=1600, height=1000):
        self.folder = tempfile.mkdtemp()
        # Chromium uses descriptors 3 and 4, so the pipes must have others.
        (to_read, self.write), (self.read, to_write) = (map(beyond_ten, os.pipe()) for _ in range(2))
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write} {to_read}<&- {to_write}>&-'
        self.process = subprocess.Popen(
            ["bash", "-c", command, program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--window-size={width},{height}",
             f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.bytes, self.number, self.session, self.diagnostics = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def _message(self):
        while b"\0" not in self.bytes:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has gone")
            self.bytes += more
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.diagnostics.append(details.get("exception", {}).get("description") or details["text"])
        if method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.diagnostics.append(" ".join(str(a.get("value", a.get("description"))) for a in given["args"]))
        if method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.diagnostics.append(given["entry"]["text"])

    def call(self, method, **given):
        self.number += 1
        request = {"id": self.number, "method": method, "params": given}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def open(self, file):
        """Opens the page and returns the seconds until it is ready."""
        begin = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(file))
        while not self.value("Boolean(document.body && document.body.dataset.ready)"):
            if time.monotonic() - begin > 60 or self.diagnostics:
                raise RuntimeError(f"the page did not become ready: {self.diagnostics}")
            time.sleep(0.02)
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - begin

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return result["result"].get("value")

    def key(self, key):
        """Presses a key with its default action, such as moving the focus."""
        number, text = KEYS.get(key, (0, key if len(key) == 1 else ""))
        given = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def size(self, width, height):
        """Sets the size of the page and waits until it is drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def medium(self, name):
        """Lays the page out for "print", or for the screen ("")."""
        self.call("Emulation.setEmulatedMedia", media=name)

    def pdf(self, file):
        """Prints the page on A4."""
        data = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file, whole=False):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.folder, ignore_errors=True)
