internal import API
internal import Callers
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes

// Coming in and going out.
extension Dashboard {
  /// The form, or how to set a key.
  func loginForm(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard !sessions.isOff else { return LoginPage.setUp.response() }
    return LoginPage.form(then: Self.target(request.head.queryValue("then"))).response()
  }

  /// Opens a session for whoever shows a service key. Who shows wrong ones too often is told to wait, as in other
  /// calls.
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
