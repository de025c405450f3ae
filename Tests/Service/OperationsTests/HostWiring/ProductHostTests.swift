import Foundation
import TestHosts
import TestPostgres
import Testing

@testable import Operations

@Suite("Products that nobody has fitted the guesses to")
struct ProductHostTests {
  /// Those that need no edit.
  private static let unattended: Set<String> = [
    "Moodle", "BuddyPress", "django-private-chat2", "a Prisma messenger", "Laravel messenger", "pinax-messages",
    "Laravel talk",
    "Supabase with auth.users", "Lemmy",
  ]
  private static let editsMax = 8

  @Test(
    "are wired by a mapping of at most eight edited lines, and nine of sixteen without any", arguments: ProductHost.all
  )
  func wired(_ product: ProductHost) async throws {
    var host = try await WiredHost(product.tables)
    if let addition = product.addition {
      let refusal = #expect(throws: MappingFault.self) { try HostProposal.mapping(of: host.schema) }
      let line = addition.prefix { $0 != ";" }
      let wanted = try #require(line.firstRange(of: "add column"))
      #expect(refusal?.description.contains(line[wanted.lowerBound...]) == true)
      try await host.sql(addition)
      host = try await host.again()
    }
    let proposal = try HostProposal.mapping(of: host.schema)
    let isUnattended = Self.unattended.contains(product.testDescription)
    #expect((proposal.unsure.isEmpty && product.edits.isEmpty) == isUnattended, "\(proposal.text)")
    let edited = HostEdits.made(product.edits, in: proposal.text)
    #expect(product.edits.reduce(0) { $0 + $1.becomes.split(separator: "\n").count } <= Self.editsMax)
    let wiring = try await host.wiring(edited)
    try await host.makeContract(for: wiring.ids)
    for _ in 1...2 { try await host.run(wiring.text) }
    try await host.sql(product.people)
    let message = try await host.sql(product.message)
    func shown() async throws -> String {
      try await host.sql(
        """
        select m.sender_name, m.body, string_agg(s.user_id::text, ',' order by s.user_id::text)
        from tacet.message_context('\(message)') m
        cross join lateral tacet.seen_by(m.conversation_id) s
        where s.user_id is distinct from m.sender_id and not tacet.has_blocked(s.user_id, m.sender_id)
          and tacet.takes_pushes(s.user_id) and (s.user_id = any (m.read_by)) is not true
        group by 1, 2
        """)
    }
    #expect(
      try await shown() == "\(product.title)|\(product.text)|\(product.recipients.joined(separator: ","))", "\(edited)")
    let badge = "select tacet.unread_count('\(product.recipients[0])')"
    #expect(try await host.sql(badge) == (product.badge.map { String($0) } ?? ""))
    let check = try await host.check(wiring)
    #expect(
      check.contains { $0.contains("\(product.recipients.count) of") && $0.contains("would get it, 0 of them") },
      "\(check)")
    for hidden in product.hidden {
      let id = try await host.sql(hidden)
      #expect(try await host.sql("select count(*) from tacet.message_context('\(id)')") == "0")
    }
    guard let read = product.read else { return }
    try await host.sql(read)
    let others = product.recipients.dropFirst().joined(separator: ",")
    #expect(try await shown() == (others.isEmpty ? "" : "\(product.title)|\(product.text)|\(others)"))
    #expect(try await host.sql(badge) == "0")
  }
}

@Suite("Hosts that a generator makes")
struct GeneratedHostTests {
  /// How many of the forty are wired without a question; the others are asked about or refused.
  private static let wiredMin = 12

  @Test("push to nobody who does not take part by their book")
  func strangers() async throws {
    var wired: [String] = []
    for generated in GeneratedHost.all {
      let host = try await WiredHost(generated.tables)
      guard let proposal = try? HostProposal.mapping(of: host.schema), proposal.unsure.isEmpty else { continue }
      let wiring = try await host.wiring(proposal.text)
      try await host.makeContract(for: wiring.ids)
      try await host.run(wiring.text)
      try await host.sql(generated.people)
      let message = try await host.sql(generated.message)
      let recipients = try await host.sql(
        """
        select string_agg(s.user_id::text, ',')
        from tacet.message_context('\(message)') m
        cross join lateral tacet.seen_by(m.conversation_id) s
        where s.user_id is distinct from m.sender_id
        """)
      #expect(
        Set(recipients.split(separator: ",").map(String.init)) == generated.members, "\(generated): \(proposal.text)")
      wired.append(generated.testDescription)
    }
    #expect(GeneratedHost.all.count == 40)
    #expect(wired.count >= Self.wiredMin, "\(wired)")
  }
}
