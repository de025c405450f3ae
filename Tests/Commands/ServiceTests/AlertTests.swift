import Testing

@Suite("Alerts")
struct AlertTests {
  @Test("each has a severity, a summary, and what to do")
  func complete() throws {
    let alerts = try MonitoringFiles.rules().filter { $0.alert != nil }
    #expect(alerts.count >= 10)
    for alert in alerts {
      #expect(["critical", "warning"].contains(alert.labels?["severity"]), "\(alert.alert ?? "")")
      #expect(alert.annotations?["summary"]?.isEmpty == false && alert.annotations?["runbook"]?.isEmpty == false)
    }
  }

  @Test("each waits for a while, but for those whose query looks back by itself")
  func patient() throws {
    let hasty = try MonitoringFiles.rules().filter { $0.alert != nil && $0.for == nil }
    #expect(hasty.compactMap(\.alert) == ["TacetRestarting"])
  }

  @Test("each has a row in the runbook and a case in the tests of rules")
  func documented() throws {
    let (runbook, cases) = (
      try MonitoringFiles.text("README.md"), try MonitoringFiles.text("prometheus-alerts-test.yml")
    )
    for name in try MonitoringFiles.rules().compactMap(\.alert) {
      #expect(runbook.contains("| `\(name)` |"), "\(name)")
      #expect(cases.contains("alertname: \(name)\n"), "\(name)")
    }
  }

  @Test(
    "promtool takes the rules, and they fire when they should and not before", .enabled(if: Promtool.isInstalled),
    arguments: [["check", "rules", "prometheus-alerts.yml"], ["test", "rules", "prometheus-alerts-test.yml"]])
  func promtool(_ arguments: [String]) throws {
    let (code, output) = try Promtool.run(arguments)
    #expect(code == 0, "\(output)")
  }
}
