import FoundationEssentials
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("A user with very many device tokens")
struct ManyTokensTests {
  /// SQL for the tokens of one user, and how many of them are tried.
  private static let crowds: [(tokens: String, tried: Int)] = [
    ("select lpad(to_hex(n), 64, '0') from generate_series(1, 20000) n", ClaimLimits.devicesMax),
    ("select n || repeat(U&'\\0301', 115000) from generate_series(1, 100) n", 0),
    ("select n || repeat(U&'\\0301', 200) from generate_series(1, 1200) n", ClaimLimits.devicesMax),
  ]

  @Test("costs few attempts and a short history, and a neighbour's message goes with the same claim", arguments: 0..<3)
  func crowd(_ index: Int) async throws {
    let (tokens, tried) = Self.crowds[index]
    try await PipelineRig.run { rig, reactor in
      let crowded = try await Chat(devices: [], in: rig, on: reactor)
      let neighbour = try await Chat(devices: ["ee"], in: rig, on: reactor)
      try await rig.execute(
        "insert into public.push_tokens (user_id, device_token) select '\(crowded.recipients[0])', t from (\(tokens)) t (t)",
        on: reactor)
      let own = try await crowded.post(on: reactor)[0]
      let other = try await neighbour.post(on: reactor)[0]
      rig.start(on: reactor)
      #expect(try await rig.outcomes(of: other, on: reactor).map(\.decision) == [.sent])
      let outcomes = try await rig.outcomes(of: own, on: reactor)
      #expect(outcomes.count == 1)
      let attempts = try await rig.value(
        """
        select sum(jsonb_array_length(h -> 'attempts') + coalesce((h ->> 'attempts_left_out')::int, 0))
        from tacet.push_log, jsonb_array_elements(history) h where subject_id = '\(own)'
        """, as: Int64?.self, on: reactor)
      #expect((attempts ?? 0) == Int64(tried))
      let bytes = try await rig.value(
        "select max(octet_length(history::text)) from tacet.push_log", as: Int32.self, on: reactor)
      #expect(bytes < 5000)
      try await rig.nothingLeft(on: reactor)
    }
  }
}
