internal import HTTP1
internal import HTTPTypes

/// The pages before the log-in.
enum LoginPage {
  /// The form.
  /// - Parameters:
  ///   - target: where to go afterwards. fault: why the last try failed, for people.
  static func form(then target: String, fault: String? = nil, status: HTTPResponse.Status = .ok) -> Page {
    let alert: HTML = fault.map { "<p id=\"fault\" class=\"fault\" role=\"alert\">\($0)</p>" } ?? ""
    let described: HTML = fault == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"fault\""
    return Page(
      title: "Log in", isLoggedIn: false, status: status,
      body: """
        <div class="narrow">
        <h1>Log in</h1>
        \(alert)
        <form class="login" method="post" action="\(DashboardLink.login)">
        <input type="hidden" name="then" value="\(target)">
        <input hidden name="username" value="tacet" autocomplete="username">
        <label for="key">Service key</label>
        <input id="key" name="key" type="password" required autocomplete="current-password" autofocus\(described)>
        <button>Log in</button>
        </form>
        <p class="note">It is the <code>SERVICE_KEY</code> of the service's settings.</p>
        </div>
        """)
  }

  /// What to do before anybody can log in.
  static var setUp: Page {
    Page(
      title: "Not set up", isLoggedIn: false, status: .notFound,
      body: """
        <div class="narrow">
        <h1>No service key is set</h1>
        <p class="lead">These pages are for whoever has the service key, and there is none.</p>
        <p>Put one into the service's settings and start it again:</p>
        <pre><code>SERVICE_KEY=$(openssl rand -hex 32)</code></pre>
        <p class="note">It is also the key of the operations for other servers.</p>
        </div>
        """)
  }

  static func problem(
    _ title: String, _ text: String, _ status: HTTPResponse.Status, isLoggedIn: Bool = false
  ) -> Page {
    Page(
      title: title, isLoggedIn: isLoggedIn, status: status,
      body: """
        <div class="narrow"><h1>\(title)</h1><p class="lead">\(text)</p>
        <p><a href="\(DashboardLink.overview)">To the overview</a></p></div>
        """)
  }
}

// Coming in and going out.
extension Dashboard {
  /// The form, or how to set a key.
  func loginForm(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard !sessions.isOff else { return LoginPage.setUp.response() }
    return LoginPage.form(then: Self.target(request.head.queryValue("then"))).response()
  }

  /// Opens a session for a service key. A peer that sends too many wrong ones has to wait, as in other calls.
  func logIn(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard !sessions.isOff else { return LoginPage.setUp.response() }
    let form = FormBody(request.body)
    let target = Self.target(form?["then"])
    guard let session = form?["key"].flatMap({ sessions.open(with: $0, now: Self.now / 1_000_000) }) else {
      if let refusal = failures.recordFailure(of: request.client) {
        return LoginPage.problem(
          "Too many attempts", "From this address came too many wrong keys. Try again in a minute.", refusal.status
        ).response(refusal.fields)
      }
      return LoginPage.form(then: target, fault: "This is not the service key.", status: .forbidden).response()
    }
    let cookie = self.cookie(session, seconds: DashboardSessions.lifeSeconds, request)
    return Page.redirect(to: target, [.setCookie: cookie])
  }

  /// Makes the browser forget its session.
  func logOut(_ request: HTTPServerRequest) -> HTTPServerResponse {
    Page.redirect(to: DashboardLink.login, [.setCookie: cookie("", seconds: 0, request)])
  }

  /// A form that no page of ours has sent.
  func refuseForm() -> HTTPServerResponse {
    LoginPage.problem(
      "Not from here", "The form was not sent by a page of this service, so nothing was done.", .forbidden
    ).response()
  }

  /// Where a log-in leads: a page of ours, by default the overview.
  static func target(_ text: String?) -> String {
    text.flatMap { DashboardLink.isPage($0) ? $0 : nil } ?? DashboardLink.overview
  }

  /// Strict: a link from elsewhere arrives without it and meets the log-in form, which is the price of never being used by
  /// others' pages. Secure whenever the browser came by TLS; over plain HTTP it would not be kept.
  private func cookie(_ session: String, seconds: Int64, _ request: HTTPServerRequest) -> String {
    "tacet_session=\(session); Path=\(DashboardLink.overview); Max-Age=\(seconds); HttpOnly; SameSite=Strict"
      + (isTLS || request.head.comesByTLS ? "; Secure" : "")
  }
}
