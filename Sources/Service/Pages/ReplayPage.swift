internal import API
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import PushKinds
internal import PushStore
internal import Reactors
internal import Replay

/// The rules of today beside a change, over the pushes of the last hours.
struct ReplayPage {
  /// Pushes that are decided again at the most: well under a second.
  static let rowsMax = 20_000

  let form: ReplayForm
  /// Nil until the form was sent.
  var report: ReplayReport?
  /// What is wrong with the form.
  var fault: String?

  var page: Page {
    let alert: HTML = fault.map { "<p class=\"fault\" role=\"alert\">\($0)</p>" } ?? ""
    return Page(
      title: "Replay", status: fault == nil ? .ok : .badRequest,
      body: """
        <h1>Replay</h1>
        <p class="lead">What other rules would have done to the pushes of the last hours. Nothing is sent.</p>
        \(alert)
        \(form.html)
        \(report.map(result) ?? .none)
        <p class="note">At most \(Wording.number(Self.rowsMax)) pushes, the newest. <code>tacet replay</code> takes any
        span and more rules.</p>
        """)
  }

  private func result(_ report: ReplayReport) -> HTML {
    """
    <section aria-labelledby="changes"><h2 id="changes">\(heading(report))</h2>
    \(figures(report))
    \(table(report))
    \(report.isCut ? "<p class=\"note\">Older pushes of the span are left out.</p>" : .none)
    </section>
    """
  }

  private func heading(_ report: ReplayReport) -> HTML {
    "\(Wording.number(report.pushes)) pushes, \(Wording.number(report.differences)) of them otherwise"
  }

  private func figures(_ report: ReplayReport) -> HTML {
    var items = [item("Sent", report.sent.before, report.sent.after)]
    if let sounding = report.sounding {
      items.append(item("With sound", sounding.before, sounding.after))
      items.append(item("Silent updates", report.sent.before - sounding.before, report.sent.after - sounding.after))
    }
    if report.inconsistent > 0 {
      items.append(item("Contradict their rules", report.inconsistent, report.inconsistent))
    }
    return "<dl class=\"figures\">\(items)</dl>"
  }

  private func item(_ title: String, _ before: Int, _ after: Int) -> HTML {
    """
    <div><dt>\(title)</dt><dd>\(Wording.number(after))</dd><dd class="note">\(Wording.number(before)) as recorded</dd></div>

    """
  }

  private func table(_ report: ReplayReport) -> HTML {
    var table = Table(
      caption: "Changes",
      columns: [
        .init(title: "Change"), .init(title: "Pushes", isNumber: true), .init(title: "Average", isNumber: true),
        .init(title: "As recorded"), .init(title: "By these rules"), .init(title: "Examples"),
      ],
      empty: "These rules change nothing.")
    table.rows = report.changes.map { change in
      [
        "\(change.effect.words)", "\(Wording.number(change.count))",
        change.averageShift.map { "\(Wording.duration($0))" } ?? "–", "\(change.before)", "\(change.after)",
        "\(change.examples.enumerated().map { Self.link($0.offset, $0.element) })",
      ]
    }
    return table.html
  }

  private static func link(_ number: Int, _ example: ReplayExample) -> HTML {
    guard let subject = example.subjectID else { return .none }
    let address = DashboardLink.explanation(of: subject, kind: example.kind, userID: example.userID)
    return "<a href=\"\(address)\">\(number + 1)<span class=\"unseen\">. explanation</span></a> "
  }
}

extension Dashboard {
  /// Decides the newest pushes again, page by page, on the session of operators.
  func replay(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    guard request.head.queryValue("hours") != nil else { return ReplayPage(form: ReplayForm()).page.response() }
    guard let form = ReplayForm(request.head) else {
      return ReplayPage(form: ReplayForm(), fault: "This is no form of this page.").page.response()
    }
    var replay = ReplayRequest(span: Self.now - Int64(form.hours) * 3_600_000_000..<Self.now)
    do throws(ReplayRulesError) {
      replay.rules = try form.rules
    } catch {
      return ReplayPage(form: form, fault: "\(error).").page.response()
    }
    replay.rowsMax = ReplayPage.rowsMax
    let report = try await replay.run(in: services.value(on: reactor).operators, on: reactor)
    return ReplayPage(form: form, report: report).page.response()
  }
}
