import ArgumentParser

/// `BUNDLE` or `BUNDLE:TEAMID`.
struct BundleArgument: ExpressibleByArgument {
  let identifier: String
  let team: String?

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    identifier = parts[0]
    team = parts.count == 2 ? parts[1] : nil
  }
}
