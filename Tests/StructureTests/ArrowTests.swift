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
    "TLSStreams": ["Cryptography", "Reactors"],
    "HTTPTransfers": ["Reactors"],
    "Postgres": ["Reactors"],
    "HTTP2": ["Reactors", "TLSStreams"],
    "HTTPServing": ["HTTP1", "Reactors", "TLSStreams"],
    "APNSCore": ["Delivery", "Localisation"],
    "PushRules": ["Localisation"],
    "PushKinds": ["APNSCore", "Delivery", "Localisation", "PushRules", "Sealing"],
    "Deliverers": ["APNSCore", "Delivery", "PushKinds"],
    "APNS": ["APNSCore", "Deliverers", "Delivery", "PushKinds"],
    "WebPush": ["APNSCore", "Deliverers", "Delivery", "Localisation", "PushKinds"],
    "FCM": ["APNSCore", "Deliverers", "Delivery", "Localisation", "PushKinds"],
    "PushStore": ["APNSCore", "Delivery", "Localisation", "PushKinds", "PushRules"],
    "PushPipeline": ["APNSCore", "Deliverers", "Delivery", "Localisation", "PushKinds", "PushRules", "PushStore"],
    "TemporalReferences": ["CampaignRules", "TimeZones"],
    "Campaigns": ["CampaignRules", "LanguageModels", "TemporalReferences", "TimeZones"],
    "API": ["BrowserClient", "Callers", "Explanations"],
    "Pages": ["API", "Callers", "Explanations"],
    "HostEvents": ["Callers", "Explanations", "Settings"],
    "Doctor": ["HostEvents", "Settings"],
    "APNSSimulation": ["SimulationControl"],
    "LanguageModelSimulation": ["SimulationControl"],
    "WebPushSimulation": ["SimulationControl"],
    "FCMSimulation": ["SimulationControl"],
    "tacet-bench": ["BenchReports"],
  ]

  /// The modules that may import each C library: one owns it. Of OpenSSL, one owns what computes and one what is connected.
  static let owners: [String: Set<String>] = [
    "CLinux": ["Reactors"], "CLibpq": ["Postgres"], "CLibcurl": ["HTTPTransfers"], "CNghttp2": ["HTTP2"],
    "COpenSSL": ["Cryptography", "TLSStreams"],
  ]

  /// Values in, values out.
  static let rules: Set<String> = ["APNSCore", "Delivery", "Localisation", "PushRules", "CampaignRules", "HostWiring"]

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

  @Test("rules import no module of ours, no C, no Foundation but its JSON and UUID")
  func pure() {
    let outside: Set<String> = ["Cryptography", "Delivery", "FoundationEssentials", "Localisation"]
    let violations = arrows { file, imported in
      // What writes SQL takes the quoting from the driver.
      let isQuoting = file.module == "HostWiring" && imported == "Postgres"
      return Self.rules.contains(file.module) && !outside.contains(imported) && !isQuoting
    }
    #expect(violations == [])
  }

  @Test("rules look at no clock")
  func clockless() {
    let clock = /\b(ContinuousClock|SuspendingClock|Date\(|clock_gettime|Reactor\.now|DispatchTime)/
    #expect(lines(in: Self.rules) { $0.contains(clock) } == [])
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

  private func lines(in modules: Set<String>, where isWrong: (String) -> Bool) -> [String] {
    SourceTree.sources.filter { modules.contains($0.module) }.flatMap { file in
      file.code.filter(isWrong).map { "\(file.path): \($0)" }
    }
  }
}
