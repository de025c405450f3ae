import Foundation
import TestRepository
import Yams

/// The dashboard and the alerts of `deploy/`, and the names that their queries use.
enum MonitoringFiles {
  /// An alert or a recording rule.
  struct Rule: Decodable {
    let alert: String?
    let record: String?
    let expr: String
    let `for`: String?
    let labels: [String: String]?
    let annotations: [String: String]?
  }

  private struct RuleFile: Decodable {
    struct Group: Decodable {
      let rules: [Rule]
    }

    let groups: [Group]
  }

  static let folder = Repository.file("deploy")

  static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  static func rules() throws -> [Rule] {
    try YAMLDecoder().decode(RuleFile.self, from: text("prometheus-alerts.yml")).groups.flatMap(\.rules)
  }

  /// Every query of the dashboard.
  static func dashboardQueries() throws -> [String] {
    queries(in: try JSONSerialization.jsonObject(with: Data(text("grafana-dashboard.json").utf8)))
  }

  private static func queries(in value: Any) -> [String] {
    if let list = value as? [Any] { return list.flatMap(queries) }
    guard let object = value as? [String: Any] else { return [] }
    return object.flatMap { name, value in
      if name == "expr", let query = value as? String { return [query] }
      return queries(in: value)
    }
  }
}

/// What a query asks for, as far as names go: PromQL is not understood further.
struct QueryNames {
  /// Each name that is used, with the labels that its selectors match.
  private(set) var selected: [String: Set<String>] = [:]
  /// Labels that it groups or joins by.
  let grouped: Set<String>

  init(_ query: String) {
    for match in query.matches(of: /\b((?:tacet[_:]|process_)[\w:]+)(?:\{([^}]*)\})?/) {
      let matchers = (match.2 ?? "").matches(of: /(\w+)\s*(?:=~|!~|!=|=)\s*"/).map { String($0.1) }
      selected[String(match.1), default: []].formUnion(matchers)
    }
    let lists = query.matches(of: /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/)
    grouped = Set(
      lists.flatMap { $0.1.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }.filter {
        !$0.isEmpty
      })
  }
}
