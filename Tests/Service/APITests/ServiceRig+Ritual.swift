import Foundation
import PushRules
import TestIDs
import TestPostgres
import TestRepository

extension ServiceRig {
  /// The tables of the campaign `ritual`, and its switch.
  func makeRituals() async throws {
    try await psql("\\i '\(try IDTypes.tested(Repository.file("db/examples/ritual.sql")).path)'")
  }

  /// A user with a device and a terrain; lower case, as the database prints ids.
  func makeRitualUser(token: String = "aa") async throws -> String {
    let user = try await makeUser()
    try await psql(
      """
      insert into terrain_profiles (user_id, terrain_type, nickname) values ('\(user)', 'cold_deficient', 'Low Flame');
      insert into push_tokens (user_id, device_token, time_zone) values ('\(user)', '\(token)', '\(ZoneNearNoon.name)');
      """)
    return user
  }
}

/// What `GET /v1/schedule` answers.
struct ScheduleDocument: Decodable {
  struct Row: Decodable {
    let identifier: String
    let campaign: String
    let slot: String
    let fire_date: String
    let fire_at: String
    let local_time: String
    let title: String
    let category: String
    let thread_id: String
    let data: Members
    let tolerance_seconds: Int
  }

  struct Members: Decodable {
    let type: String
    let slot: String
    let phase: String
    let micro_action: Int
  }

  let settings_hint: Bool
  let rows: [Row]
}

extension PlainResponse {
  /// The field that a problem names.
  var field: String? { body.firstMatch(of: /"field":"([^"]+)"/).map { String($0.1) } }
}
