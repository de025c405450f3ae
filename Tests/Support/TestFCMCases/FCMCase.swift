internal import Foundation
internal import Yams

/// A case of `fcm-cases.yaml`: a request, the answer, and what a client does.
package struct FCMCase: Sendable, CustomStringConvertible {
  package typealias Mapping = [String: Any]

  /// `F01`, `T01` or `S01`, and so on.
  package let identifier: String
  /// The identifier and the title.
  package let description: String
  /// What a client does; empty where the case does not say.
  package let client: String
  // Safe: strings, numbers and collections of them, which nothing changes after reading.
  nonisolated(unsafe) private let mapping: Mapping

  private init(_ mapping: Mapping) {
    identifier = mapping["id"] as? String ?? "?"
    description = "\(identifier) \(mapping["title"] ?? "")"
    client = mapping["client"] as? String ?? ""
    self.mapping = mapping
  }

  /// A member of the case.
  package subscript(name: String) -> Any? { mapping[name] }
  /// What the case changes in the default request.
  package var request: Mapping { mapping["req"] as? Mapping ?? [:] }
  /// What the answer has to be.
  package var expectation: Mapping { mapping["exp"] as? Mapping ?? [:] }
  /// Whether `exp` names a member, also with null.
  package func expects(_ name: String) -> Bool { expectation[name] != nil }

  // Read once: a debug build takes a tenth of a second for it. Safe as above.
  nonisolated(unsafe) private static let file: Mapping = {
    guard let url = Bundle.module.url(forResource: "fcm-cases", withExtension: "yaml", subdirectory: "Resources"),
      let text = try? String(contentsOf: url, encoding: .utf8), let file = try? Yams.load(yaml: text) as? Mapping
    else { preconditionFailure("fcm-cases.yaml cannot be read") }
    return file
  }()

  private static func all(_ section: String) -> [FCMCase] {
    (file[section] as? [Mapping] ?? []).map { FCMCase($0) }
  }

  /// Requests to `messages:send`.
  package static let sends = all("send_cases")
  /// Requests to the token endpoint.
  package static let tokens = all("token_cases")
  /// Several requests.
  package static let sequences = all("sequence_cases")

  /// The value of a fixture token; a name that is none stands for itself.
  package static func token(_ name: String) -> String {
    let fixtures = file["fixtures"] as? Mapping
    return (fixtures?["tokens"] as? [String: String])?[name] ?? name
  }
}

extension FCMCase {
  /// The content of the request.
  package var body: [UInt8] {
    if let raw = request["body_raw"] as? String { return Array(raw.utf8) }
    let defaults = (Self.file["defaults"] as? Mapping)?["message"] as? Mapping ?? [:]
    var message = Self.merge(defaults, request["message"] as? Mapping ?? [:])
    for target in ["token", "fid"] {
      if let name = message[target] as? String { message[target] = Self.token(name) }
    }
    if let size = request["data_pad_to"] as? Int { message["data"] = Self.padding(message, to: size) }
    var document: Mapping = ["message": message]
    if let isTrial = request["validate_only"] as? Bool { document["validate_only"] = isTrial }
    guard let data = try? JSONSerialization.data(withJSONObject: document, options: .sortedKeys) else {
      preconditionFailure("\(identifier) has no JSON")
    }
    return Array(data)
  }

  private static func padding(_ message: Mapping, to size: Int) -> [String: String] {
    let notification = message["notification"] as? [String: String] ?? [:]
    let used = notification.reduce(1) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    return ["p": String(repeating: "x", count: size - used)]
  }

  /// Defaults under changes, mappings member by member; null removes a member.
  private static func merge(_ base: Mapping, _ changes: Mapping) -> Mapping {
    var merged = base
    for (name, value) in changes {
      switch value {
      case is NSNull: merged[name] = nil
      case let inner as Mapping: merged[name] = merge(base[name] as? Mapping ?? [:], inner)
      default: merged[name] = value
      }
    }
    return merged
  }
}
