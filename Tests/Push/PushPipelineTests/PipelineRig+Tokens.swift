import PushStore
import Reactors

@testable import PushPipeline

extension PipelineRig {
  /// Gives a chat's recipients a device each, and lets one push pass, which proves the route. Starts the pipeline.
  func prove(_ chat: Chat, on reactor: isolated Reactor) async throws {
    for (number, user) in chat.recipients.enumerated() {
      try await execute(
        "insert into public.push_tokens (user_id, device_token) values ('\(user)', 'aa\(number + 1000)')", on: reactor)
    }
    start(on: reactor)
    let id = try await chat.post(waking: .webhook, on: reactor)
    _ = try await outcomes(of: id, on: reactor) { $0.allSatisfy { $0.decision == .sent } }
  }

  /// Whether any device token has been dropped.
  func isDropped(on reactor: isolated Reactor) async throws -> Bool {
    try await value(
      "select exists (select from public.push_tokens where invalidated_at is not null)", as: Bool.self, on: reactor)
  }

  /// The environments that the tokens' rows name, in the order of the tokens; empty for none.
  func environments(on reactor: isolated Reactor) async throws -> String {
    try await value(
      "select string_agg(coalesce(environment, ''), ',' order by device_token) from public.push_tokens",
      as: String.self, on: reactor)
  }
}
