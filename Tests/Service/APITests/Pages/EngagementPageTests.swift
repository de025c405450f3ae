import Foundation
import PushStore
import Testing

@testable import API

@Suite("The page of engagement")
struct EngagementPageTests {
  private func expect(_ texts: [String], on page: PageAnswer) {
    #expect(page.status == 200)
    for text in texts { #expect(page.body.contains(text), "\(text)") }
  }

  @Test("without users and analyses it shows zeros, and says when there will be an analysis")
  func empty() async throws {
    try await PageRig.run { rig in
      let page = try await rig.get("/dashboard/engagement", cookie: try await rig.logIn())
      expect(["<dt>Users</dt><dd>0</dd>", "<dd>0.0 %</dd>", "The service stores one every 72 hours."], on: page)
    }
  }

  @Test("it shows the users of now by their classes, and the stored analyses, the newest first")
  func filled() async throws {
    try await PageRig.run { rig in
      try await Ledger(rig: rig).fillEngagement()
      let session = try await rig.logIn()
      let page = try await rig.get("/dashboard/engagement", cookie: session)
      expect(
        [
          "<dt>Users</dt><dd>18</dd>", "<dt>Active</dt><dd>2</dd>", "<dd>11 %</dd>",
          "aria-label=\"2 active, 4 recent, ",
          "active, up to a day ago: 2 (11 %)", "All users whose activity is known, now", "12\u{202F}345", "9.9 %",
          "<dt>Session length</dt><dd>0 s</dd>",
          "<td role=\"cell\" data-label=\"Sessions per user\" class=\"number\">2.00</td>", "1 min",
        ], on: page)
      let places = ["2026-01-04", "2026-01-01"].map { page.body.firstRange(of: ">\($0)<")?.lowerBound }
      #expect(try #require(places[0]) < #require(places[1]))
      let overview = try await rig.get("/dashboard", cookie: session).body
      #expect(overview.contains("<a href=\"/dashboard/engagement\">Engagement</a>"))
    }
  }

  @Test("where the users cannot be counted it shows the newest analysis, if there is one")
  func uncounted() async throws {
    try await PageRig.run { rig in
      try await rig.sql("alter table tacet.activity rename to lost")
      let session = try await rig.logIn()
      let without = try await rig.get("/dashboard/engagement", cookie: session)
      expect(["no analysis is stored yet"], on: without)
      #expect(!without.body.contains("<dl"))
      try await rig.sql("alter table tacet.lost rename to activity")
      try await Ledger(rig: rig).fillEngagement()
      try await rig.sql("alter table tacet.activity rename to lost")
      let page = try await rig.get("/dashboard/engagement", cookie: session)
      expect(
        [
          "The users could not be counted in time.", "the analysis of <time datetime=\"2026-01-04T10:00:00",
          "<dt>Users</dt><dd>12\u{202F}345</dd>",
        ], on: page)
    }
  }

  @Test(
    "the bar is as wide as all users, whatever their classes",
    arguments: [[0, 0, 0, 0], [1, 1, 1, 0], [7, 0, 0, 2], [1_000_000, 1, 0, 0]])
  func bar(_ users: [Int]) {
    let chart = EngagementChart(figures: figures(users)).html.markup
    let widths = chart.matches(of: /width="(\d+)"/).compactMap { Int($0.1) }
    #expect(widths.count == 4 && widths.reduce(0, +) == (users == [0, 0, 0, 0] ? 0 : 1000))
  }

  private func figures(_ users: [Int]) -> EngagementFigures {
    var figures = EngagementFigures(period: 0..<1)
    (figures.activeUsers, figures.recentUsers, figures.lapsedUsers, figures.churnRiskUsers) = (
      users[0], users[1], users[2], users[3]
    )
    figures.totalUsers = users.reduce(0, +)
    return figures
  }
}
