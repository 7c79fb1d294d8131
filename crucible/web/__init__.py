"""HTML pages of a vault: one renderer for `cru web`, for shared sessions and for exported sites.

A self-contained file of a session, as `cru share` needs it:

    shared = shared_session(web, session, Level.FULL, redaction)
    html = shared_html(shared, web)

A site is made by `site_pages` with the same renderers, from values that passed `ShareRedaction`.

Foreign text reaches a page only through `markdown_html` (raw HTML off, links to http, https, mailto and notes, images
as links), `escape_text` or Jinja's autoescape.  No page has an inline handler or style, or loads anything from another
origin.  Only the modules of the live server need the extra `web`.
"""
