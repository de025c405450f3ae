import Foundation
import TestIDs
import TestPostgres
import TestRepository

/// The table of device tokens as the service's migrations make it, with one token.
enum TokenTable {
  private static let user = "11111111-0000-4000-8000-000000000001"

  /// Registers a token, lets APNs' word about it arrive, and looks whether the token is still one to push to.
  /// - Parameters:
  ///   - registeredAt: when the app handed the token over, in milliseconds since 1970.
  ///   - invalidSince: since when the token is dead by APNs' word, likewise.
  static func isActive(_ token: String, registeredAt: Int, invalidSince: Int64) async throws -> Bool {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    for file in migrations { try await server.psql("\\i '\(file.path)'", through: conninfo) }
    try await server.psql(
      """
      insert into profiles (id) values ('\(user)');
      insert into push_tokens (user_id, device_token, registered_at)
      values ('\(user)', '\(token)', \(time(Int64(registeredAt))));
      """, through: conninfo)
    try await server.psql(
      "select tacet.invalidate_device_token('\(token)', 'Unregistered', \(time(invalidSince)))", through: conninfo)
    let count = try await server.psql("select count(*) from tacet.device_tokens('\(user)')", through: conninfo)
    return count.trimmingCharacters(in: .whitespacesAndNewlines) == "1"
  }

  private static func time(_ milliseconds: Int64) -> String { "to_timestamp(\(milliseconds) / 1000.0)" }

  private static let migrations = [Repository.hostTables, Repository.install]
}
