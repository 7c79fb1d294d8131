"""HTML pages of a vault: one renderer for `cru web`, for shared sessions and for exported sites.

A self-contained file of a session, as `cru share` needs it:

    details = read_call_details(vault.root, session.id, calls_of(session))
    shown = Shown(Level.FULL, details=details, reports={"subagent's id": its_session})
    html = session_html(session, page_frame(inline=True), shown, Facts(zone, cost="$0.42"))

A site passes `page_frame(assets="../")`, `Shown.links` with the addresses of its pages, and writes `STYLE` and `SCRIPT`.

Foreign text reaches a page only through `markdown_html` (raw HTML off, links to http, https, mailto and notes, images
as links), `escape_text` or Jinja's autoescape.  No page has an inline handler or style, or loads anything from another
origin.  Only the modules of the live server need the extra `web`.
"""
