internal import HTTPTypes

/// The pages for somebody who is not logged in.
enum LoginPage {
  /// The form.
  /// - Parameters:
  ///   - target: where to go afterwards. fault: why the last try was none, for people.
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

  /// Anything that went wrong, in a sentence.
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
