"""Wait until the page has been drawn anew."""


def settle(page):
    """Wait for the frame in which the page shows what was last moved, typed or clicked."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
