import Testing

@Suite("Arrows between modules")
struct ArrowTests {
  /// The folders of `Sources` from the ground up. A module may import those of every folder before its own.
  static let folders = ["C", "Runtime", "Push", "Campaigns", "Service"]

  /// Folders that stand beside that order, and the folders that their modules may import.
  static let beside: [String: Set<String>] = [
    "Build": [],
    "Client": [],
    "Simulators": ["C", "Runtime"],
    "Commands": Set(folders + ["Simulators"]),
  ]

  /// What a module may import of its own folder. These edges form no circle: each names only modules of earlier lines.
  static let inside: KeyValuePairs<String, Set<String>> = [
    "Reactors": ["Cryptography"],
    "HTTP1": ["Reactors"],
    "HTTP2": ["Reactors"],
    "HTTPTransfers": ["Reactors"],
    "Postgres": ["Reactors"],
    "Channels": ["PushRules"],
    "PushStore": ["PushRules"],
    "PushPipeline": ["Channels", "PushRules", "PushStore"],
    "Campaigns": ["TemporalReferences"],
    "Operations": ["Settings"],
    "API": ["Operations"],
  ]

  /// The modules that may import each C library: one owns it. Of OpenSSL, one owns what computes and one what is connected.
  static let owners: [String: Set<String>] = [
    "CLinux": ["Reactors"], "CLibpq": ["Postgres"], "CLibcurl": ["HTTPTransfers"], "CNghttp2": ["HTTP2"],
    "COpenSSL": ["Cryptography", "Reactors"],
  ]

  /// Folders of values in, values out.
  static let rules = [
    "Sources/Push/PushRules/", "Sources/Campaigns/Campaigns/Rules/", "Sources/Service/Operations/HostWiring/",
  ]

  private static func isRule(_ file: SourceFile) -> Bool { rules.contains { file.path.hasPrefix($0) } }

  private static let modules = Dictionary(SourceTree.sources.map { ($0.module, $0.folder) }) { first, _ in first }

  @Test("every folder has its place, and what is named is there")
  func known() {
    let placed = Set(Self.folders).union(Self.beside.keys)
    #expect(Set(Self.modules.values).subtracting(placed) == [])
    let named = Self.inside.flatMap { $0.value.union([$0.key]) }
    #expect(Set(named).subtracting(Self.modules.keys) == [])
  }

  @Test("imports point down: to the folders below, and inside a folder along the edges of the list")
  func down() {
    let edges = Dictionary(uniqueKeysWithValues: Self.inside.map { ($0.key, $0.value) })
    let violations = arrows { file, imported in
      guard imported != file.module, let to = Self.modules[imported] else { return false }
      if to == file.folder { return !(edges[file.module] ?? []).contains(imported) }
      let below = Self.beside[file.folder] ?? Set(Self.folders.prefix { $0 != file.folder })
      return !below.contains(to)
    }
    #expect(violations == [])
  }

  @Test("the edges inside a folder form no circle")
  func noCircle() {
    var known: Set<String> = []
    for (module, imported) in Self.inside {
      #expect(imported.allSatisfy { known.contains($0) || !Self.inside.map(\.key).contains($0) }, "\(module)")
      known.insert(module)
    }
  }

  @Test("a C library is imported by the module that owns it and by no other")
  func owned() {
    #expect(arrows { file, imported in Self.owners[imported].map { !$0.contains(file.module) } ?? false } == [])
  }

  @Test("rules import no module of ours but rules, no C, no Foundation but its JSON and UUID")
  func pure() {
    let outside: Set<String> = ["Cryptography", "FoundationEssentials", "PushRules", "TemporalReferences"]
    let violations = arrows { file, imported in
      // What writes SQL takes the quoting from the driver.
      let isQuoting = file.path.contains("/HostWiring/") && imported == "Postgres"
      return Self.isRule(file) && !outside.contains(imported) && !isQuoting
    }
    #expect(violations == [])
  }

  @Test("rules look at no clock, but where a kind's request is read")
  func clockless() {
    let readers = ["ServicePush.swift"]
    let clock = /\b(ContinuousClock|SuspendingClock|Date\(|clock_gettime|Reactor\.now|DispatchTime)/
    let violations = SourceTree.sources.filter { Self.isRule($0) && !readers.contains($0.name) }.flatMap { file in
      file.code.filter { $0.contains(clock) }.map { "\(file.path): \($0)" }
    }
    #expect(violations == [])
  }

  @Test("what runs in production imports FoundationEssentials at most: all of Foundation brings 40 MB along")
  func noFoundation() {
    let violations = arrows { file, imported in
      imported == "Foundation" && !["Build", "Client"].contains(file.folder)
    }
    #expect(violations == [])
  }

  private func arrows(where isWrong: (SourceFile, String) -> Bool) -> [String] {
    SourceTree.sources.flatMap { file in
      file.imports.filter { isWrong(file, $0) }.map { "\(file.path) imports \($0)" }
    }
  }
}
