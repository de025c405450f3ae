import Operations
import TestHosts
import Testing

@Suite("What an application hides, wired by tacet init")
struct HiddenRowsTests {
  private let host = HiddenHost.other

  @Test("is not pushed, pushed when it is shown, and named in the summary")
  func pushed() async throws {
    let preparations = HiddenShape.all.map { host.written($0.preparation) }
    let wired = try await WiredHost(host.tables + preparations.joined(separator: ";\n"))
    let plan = try WiringPlan(wired.schema)
    try await wired.makeContract(for: plan)
    for _ in 1...2 { try await wired.run(WiringFile(plan).text) }
    func played(_ text: String, _ question: String) async throws -> String {
      try await wired.sql(host.written(text))
      return try await wired.sql(host.written(question))
    }
    let pushes = """
      select count(*)
      from chat_messages x
      cross join lateral tacet.message_context(x.id) m
      cross join lateral tacet.seen_by(m.conversation_id) s
      cross join lateral tacet.device_tokens(s.user_id)
      where s.user_id <> m.sender_id and not tacet.has_blocked(s.user_id, m.sender_id)
      """
    let takesPart = "select tacet.takes_part('$room', '$reader')"
    #expect(try await played(host.people(String(repeating: "0a", count: 32)) + ";" + host.saying, pushes) == "1")
    for shape in HiddenShape.all {
      #expect(try await played(shape.hide, pushes) == "0", "\(shape)")
      let isMember = !HiddenShape.members.contains { $0.testDescription == shape.testDescription }
      #expect(try await played("select", takesPart) == (isMember ? "t" : "f"), "\(shape)")
      #expect(try await played(shape.show, pushes) == "1", "\(shape)")
    }
    let lines = WiringSummary(plan).lines
    #expect(lines.contains { $0.hasPrefix("messages") && $0.contains("status hides nothing") })
    #expect(lines.contains { $0.hasPrefix("blocks") && $0.contains("public.user_blocks (user_id, blocked_user_id)") })
    #expect(!lines.contains { $0.contains("is not used") })
  }

  @Test("is said where it is not understood")
  func unused() async throws {
    let wired = try await WiredHost(host.tables + host.written(HiddenShape.odd))
    let lines = WiringSummary(try WiringPlan(wired.schema)).lines
    for name in [
      "public.chat_messages.moderation_level", "public.chat_messages.hidden_for", "public.chat_messages.is_ephemeral",
      "public.room_members.notification_prefs", "public.room_members.is_active",
      "public.users.is_banned_by_vote", "public.blocklist",
    ] {
      #expect(lines.contains { $0.hasPrefix("\(name) is not used") }, "\(name): \(lines)")
    }
    #expect(lines.filter { $0.contains("is not used") }.count == 7)
  }

  @Test("a member has left where the application's own column says so, whatever else is there")
  func left() async throws {
    let columns = "alter table room_members add last_seen timestamptz, add left_at timestamptz"
    let wired = try await WiredHost(host.tables + columns)
    let plan = try WiringPlan(wired.schema)
    try await wired.makeContract(for: plan)
    try await wired.run(WiringFile(plan).text)
    try await wired.sql(host.people("0a"))
    let recipients = host.written("select count(*) from tacet.seen_by('$room')")
    #expect(try await wired.sql(recipients) == "2")
    try await wired.sql(host.written("update room_members set left_at = now() where user_id = '$reader'"))
    #expect(try await wired.sql(recipients) == "1")
  }
}
