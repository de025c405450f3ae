internal import Cryptography
internal import HTTP1
internal import HTTPTypes

/// A whole page: the frame that all of them share, and what is special about one.
struct Page {
  /// Names it in the browser, before the name of the service.
  var title: String
  /// Whether it offers what needs a log-in.
  var isLoggedIn = true
  /// Seconds after which the browser loads it again; nil for never.
  var refresh: Int?
  var search = ""
  var status = HTTPResponse.Status.ok
  var body: HTML

  func response(_ more: HTTPFields = [:]) -> HTTPServerResponse {
    var fields = more
    fields[.contentType] = "text/html; charset=utf-8"
    fields[.contentSecurityPolicy] = Self.policy
    // Not no-referrer, with which browsers would also hide from us which page has sent a form. Nothing on the pages leads
    // elsewhere.
    fields[.referrerPolicy] = "same-origin"
    return HTTPServerResponse(status: status, fields: fields, body: Array(document.markup.utf8))
  }

  static func redirect(to target: String, _ more: HTTPFields = [:]) -> HTTPServerResponse {
    var fields = more
    fields[.location] = target
    return HTTPServerResponse(status: .seeOther, fields: fields)
  }

  /// The styles, which may be kept: their address changes with them.
  static func styles() -> HTTPServerResponse {
    HTTPServerResponse(
      status: .ok,
      fields: [.contentType: "text/css; charset=utf-8", .cacheControl: "public, max-age=31536000, immutable"],
      body: style)
  }

  /// Styles of ours, forms to us, and nothing else: no script, no picture, no frame around it.
  private static let policy =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

  private static let style = Array(EmbeddedFiles.style_css.utf8)

  private static let styleAddress = DashboardLink.style + "?v=" + SHA256.hash(style).hexadecimal(bytes: 8)

  private var document: HTML {
    let refreshing: HTML = refresh.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">" } ?? ""
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      \(refreshing)
      <title>\(title) · Tacet</title>
      <link rel="stylesheet" href="\(Self.styleAddress)">
      </head>
      <body>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
      <a class="name" href="\(DashboardLink.overview)">Tacet</a>
      \(isLoggedIn ? tools : .none)
      </header>
      <main id="main" tabindex="-1">
      \(body)
      </main>
      </body>
      </html>

      """
  }

  private var tools: HTML {
    """
    <nav class="places" aria-label="Main">
    <a href="\(DashboardLink.overview)">Overview</a>
    <a href="\(DashboardLink.engagement)">Engagement</a>
    <a href="\(DashboardLink.events)">Events</a>
    </nav>
    <form class="search" role="search" method="post" action="\(DashboardLink.search)">
    <label class="unseen" for="q">User id, message id or device token</label>
    <input id="q" name="q" type="search" value="\(search)" placeholder="User, message or device token" required
     maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false">
    <button>Search</button>
    </form>
    <form method="post" action="\(DashboardLink.logout)"><button class="plain">Log out</button></form>
    """
  }
}

extension HTTPField.Name {
  // The name is a token.
  fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
