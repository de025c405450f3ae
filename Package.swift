// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // A nonisolated async function stays on its caller's reactor instead of hopping to the global executor.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func layer(
  _ path: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = [], exclude: [String] = [],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .target(
    name: name(path), dependencies: dependencies, path: "Sources/" + path, exclude: exclude,
    swiftSettings: strict + more, plugins: plugins)
}

/// A target is named like its folder.
func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

// Release builds of what every push goes through: generic code of one module is specialized in the others. Reading a column is
// a separate call otherwise, with a look-up of its types each time.
let hotPath: [SwiftSetting] = [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

// The same for what every frame to APNs goes through. That accesses to a property do not overlap is not checked there at run
// time, which is a fifteenth of what a push costs the client; elsewhere it is too little to measure. An overlap would be a mistake
// in how callbacks nest, on one thread and the same in every build; tests are debug builds and run with the checks.
let everyFrame: [SwiftSetting] =
  hotPath + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

func command(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(
    name: name(path), dependencies: dependencies, path: "Sources/" + path, swiftSettings: strict,
    linkerSettings: [
      // Nothing loads a program as a library: without names for that it is a megabyte smaller. Its relocations, packed, take
      // another one less, also of memory.
      .unsafeFlags(
        ["-use-ld=lld"] + ["--no-export-dynamic", "-z", "pack-relative-relocs"].flatMap { ["-Xlinker", $0] },
        .when(platforms: [.linux], configuration: .release))
    ])
}

func tests(
  _ path: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name(path), dependencies: dependencies, path: "Tests/" + path, exclude: exclude, resources: resources,
    swiftSettings: strict)
}

/// What several test targets share.
func support(_ path: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
  .target(
    name: name(path), dependencies: dependencies, path: "Tests/" + path, resources: resources, swiftSettings: strict)
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let histograms: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

let package = Package(
  name: "tacet",
  // Of the library for apps; everything else is for Linux.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [.library(name: "TacetClient", targets: ["TacetClient"])],
  // Exact, because a build is to be repeatable and what SwiftPM resolves is not kept beside the sources.
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    // Signals as a sequence, and nothing else of it is built.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
  ],
  targets: [
    // C libraries: headers and typed inline shims.
    .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
    .systemLibrary(
      name: "CLibcurl", path: "Sources/C/CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLibpq", path: "Sources/C/CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CNghttp2", path: "Sources/C/CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

    // The loop.
    layer("Runtime/Reactors", ["CLinux", "COpenSSL", "Cryptography", deque, heap], everyFrame),
    // Drivers on the loop, and what is counted as text for Prometheus.
    layer("Runtime/Cryptography", ["COpenSSL"], hotPath),
    layer("Runtime/HTTP1", ["Reactors", metrics, httpTypes, logging], hotPath),
    layer("Runtime/HTTP2", ["CNghttp2", "Reactors", deque], everyFrame),
    layer("Runtime/HTTPTransfers", ["CLibcurl", "Reactors", deque, httpTypes]),
    layer("Runtime/Postgres", ["CLibpq", "Reactors", deque, logging], hotPath),
    layer("Runtime/PrometheusMetrics", [metrics]),
    // Rules and kinds of pushes; channels; every SQL statement; the five stages.
    layer(
      "Push/PushRules", ["Cryptography"], everyFrame,
      exclude: ["Locales/plurals.vocabulary", "Locales/words.vocabulary"], plugins: [.plugin(name: "EmbedText")]),
    layer(
      "Push/Channels",
      ["Cryptography", "HTTP2", "HTTPTransfers", "PushRules", "Reactors", metrics, deque, httpTypes, logging],
      everyFrame),
    layer(
      "Push/PushStore", ["Postgres", "PushRules", "Reactors", logging], hotPath, plugins: [.plugin(name: "EmbedSQL")]),
    layer(
      "Push/PushPipeline", ["Channels", "Postgres", "PushRules", "PushStore", "Reactors", metrics, deque, logging],
      hotPath),
    // Pushes that no event asks for.
    layer(
      "Campaigns/TemporalReferences", exclude: ["english.vocabulary", "german.vocabulary"],
      plugins: [.plugin(name: "EmbedText")]),
    layer(
      "Campaigns/Campaigns",
      [
        "Cryptography", "HTTPTransfers", "Postgres", "PushRules", "PushStore", "Reactors", "TemporalReferences",
        metrics, httpTypes, logging,
      ]),
    // What people and programs see.
    layer("Service/Settings", ["Channels", "Cryptography", "HTTP1", "Postgres", "PushRules", "Reactors"]),
    layer(
      "Service/Operations",
      [
        "Campaigns", "Channels", "Cryptography", "HTTP2", "HTTPTransfers", "Postgres", "PushRules", "PushStore",
        "Reactors", "Settings", "TemporalReferences", metrics, httpTypes, logging,
      ], exclude: ["HostWiring/hosts.vocabulary"], plugins: [.plugin(name: "EmbedText")]),
    layer(
      "Service/API",
      [
        "Campaigns", "Channels", "Cryptography", "HTTP1", "HTTPTransfers", "Operations", "Postgres", "PushPipeline",
        "PushRules", "PushStore", "Reactors", "TemporalReferences", httpTypes, logging,
      ], exclude: ["BrowserClient", "Pages/style.css", "openapi.yaml"], plugins: [.plugin(name: "EmbedText")]),
    // What apps call the service with.
    layer("Client/TacetClient"),
    // Stand-ins for tests and demos.
    layer("Simulators/Simulators", ["Cryptography", "HTTP1", "HTTP2", "Reactors", deque, httpTypes, logging]),
    // Texts and SQL as Swift.
    .plugin(name: "EmbedSQL", capability: .buildTool(), dependencies: ["embed-files"], path: "Sources/Build/EmbedSQL"),
    .plugin(
      name: "EmbedText", capability: .buildTool(), dependencies: ["embed-files"], path: "Sources/Build/EmbedText"),
    // Commands: wiring only.
    command(
      "Commands/tacet",
      [
        "API", "Campaigns", "Channels", "Cryptography", "HTTP1", "HTTPTransfers", "Operations", "Postgres",
        "PrometheusMetrics", "PushPipeline", "PushRules", "PushStore", "Reactors", "Settings", argumentParser, metrics,
        httpTypes, logging, signals,
      ]),
    command("Commands/tacet-simulate", ["Reactors", "Simulators", argumentParser, logging, signals]),
    command(
      "Commands/tacet-bench",
      [
        "Channels", "Cryptography", "HTTP2", "HTTPTransfers", "Postgres", "PushRules", "Reactors", argumentParser,
        httpTypes, histograms, logging,
      ]),
    command("Build/embed-files"),
    // What several test targets share.
    support(
      "Support/TestAPNSCases", ["Cryptography", "Reactors", "Simulators", yams], resources: [.copy("Resources")]),
    support("Support/TestFCMCases", [yams], resources: [.copy("Resources")]),
    support("Support/TestHosts"),
    support(
      "Support/TestIDs",
      [
        "Postgres", "PushRules", "PushStore", "TestPostgres", "TestProcesses", "TestReactors", "TestRepository",
        logging,
      ]),
    support("Support/TestKeys", ["COpenSSL", "Cryptography"]),
    support("Support/TestLogs", [logging]),
    support("Support/TestPostgres", ["CLibpq", "TestProcesses"]),
    support("Support/TestProcesses"),
    support("Support/TestRandomness"),
    support("Support/TestReactors", ["Reactors"]),
    support("Support/TestReceivers", ["API", "HTTP1", "Reactors", httpTypes, logging]),
    support("Support/TestRepository"),
    // One target of tests for each of sources, and one for their shape.
    tests(
      "Runtime/CryptographyTests", ["COpenSSL", "Cryptography", "TestKeys", "TestProcesses", "TestRandomness"],
      exclude: ["Resources"]),
    tests(
      "Runtime/HTTP1Tests",
      [
        "CLinux", "HTTP1", "PrometheusMetrics", "Reactors", "TestLogs", "TestRandomness", "TestReactors", metrics,
        httpTypes, logging,
      ]),
    tests("Runtime/HTTP2Tests", ["HTTP2", "Reactors", "TestProcesses", "TestReactors"]),
    tests(
      "Runtime/HTTPTransfersTests",
      ["HTTP1", "HTTP2", "HTTPTransfers", "Reactors", "TestReactors", httpTypes, logging]),
    tests(
      "Runtime/PostgresTests",
      ["Postgres", "Reactors", "TestLogs", "TestPostgres", "TestProcesses", "TestReactors", logging]),
    tests("Runtime/PrometheusMetricsTests", ["PrometheusMetrics", metrics]),
    tests("Runtime/ReactorsTests", ["CLinux", "Reactors", "TestProcesses", "TestReactors"]),
    tests(
      "Push/ChannelsTests",
      [
        "Channels", "Cryptography", "HTTP2", "HTTPTransfers", "PrometheusMetrics", "PushRules", "Reactors",
        "Simulators", "TestAPNSCases", "TestFCMCases", "TestIDs", "TestKeys", "TestLogs", "TestPostgres",
        "TestProcesses", "TestRandomness", "TestReactors", "TestRepository", httpTypes, logging, yams,
      ], exclude: ["WebPush/decrypt_pushes.py"],
      resources: [.copy("WebPush/web-push-vectors.json"), .copy("WebPush/Conformance/web-push-cases.yaml")]),
    tests(
      "Push/PushPipelineTests",
      [
        "Channels", "Postgres", "PrometheusMetrics", "PushPipeline", "PushRules", "PushStore", "Reactors", "TestIDs",
        "TestLogs", "TestPostgres", "TestRandomness", "TestReactors", "TestRepository", logging,
      ]),
    tests(
      "Push/PushRulesTests", ["Cryptography", "PushRules", "TestProcesses", "TestRandomness", "TestRepository"],
      exclude: ["Locales/plural-cases.txt", "Sealing/open_sealed.py"]),
    tests(
      "Push/PushStoreTests",
      [
        "Cryptography", "Postgres", "PushRules", "PushStore", "Reactors", "TestHosts", "TestIDs", "TestLogs",
        "TestPostgres", "TestRandomness", "TestReactors", "TestRepository", logging,
      ]),
    tests(
      "Campaigns/CampaignsTests",
      [
        "Campaigns", "HTTP1", "Postgres", "PrometheusMetrics", "PushRules", "PushStore", "Reactors", "Simulators",
        "TemporalReferences", "TestIDs", "TestLogs", "TestPostgres", "TestReactors", "TestRepository", httpTypes,
        logging,
      ]),
    tests(
      "Campaigns/TemporalReferencesTests", ["TemporalReferences", "TestPostgres", "TestProcesses", "TestRandomness"],
      exclude: ["Cases"]),
    tests(
      "Service/APITests",
      [
        "API", "Campaigns", "Channels", "Cryptography", "HTTP1", "HTTPTransfers", "Operations", "Postgres",
        "PushPipeline", "PushRules", "PushStore", "Reactors", "TestIDs", "TestKeys", "TestLogs", "TestPostgres",
        "TestProcesses", "TestReactors", "TestRepository", httpTypes, logging, yams,
      ], exclude: ["BrowserClient", "Callers/generate_tokens.py"]),
    tests(
      "Service/OperationsTests",
      [
        "API", "Campaigns", "Cryptography", "HTTPTransfers", "Operations", "Postgres", "PushRules", "PushStore",
        "Reactors", "Settings", "TemporalReferences", "TestHosts", "TestIDs", "TestLogs", "TestPostgres",
        "TestRandomness", "TestReactors", "TestReceivers", "TestRepository", logging,
      ]),
    tests(
      "Service/SettingsTests",
      ["Channels", "Cryptography", "HTTP1", "Postgres", "PushRules", "Reactors", "Settings", "TestKeys"]),
    tests("Client/TacetClientTests", ["Cryptography", "PushRules", "TacetClient"], resources: [.copy("Cases")]),
    tests(
      "Simulators/SimulatorsTests",
      [
        "Cryptography", "HTTP1", "HTTP2", "HTTPTransfers", "Reactors", "Simulators", "TestAPNSCases", "TestKeys",
        "TestLogs", "TestProcesses", "tacet-simulate", httpTypes,
      ], resources: [.copy("WebPush/Resources")]),
    tests("Build/EmbedFilesTests", ["embed-files"]),
    tests(
      "Commands/ServiceTests",
      [
        "Cryptography", "Reactors", "Simulators", "TacetClient", "TestHosts", "TestIDs", "TestLogs", "TestPostgres",
        "TestProcesses", "TestRandomness", "TestReceivers", "TestRepository", "tacet", "tacet-simulate", yams,
      ], exclude: ["Firefox"]),
    tests(
      "Commands/TacetBenchTests",
      [
        "Channels", "Cryptography", "PushRules", "Reactors", "Simulators", "TestPostgres", "TestProcesses",
        "TestReactors", "TestRepository", "tacet", "tacet-bench",
      ]),
    tests(
      "Commands/TacetTests",
      [
        "API", "Cryptography", "HTTP1", "Operations", "Postgres", "PrometheusMetrics", "PushPipeline", "PushRules",
        "PushStore", "TestHosts", "TestIDs", "TestKeys", "TestLogs", "TestPostgres", "TestProcesses", "TestRepository",
        "tacet", httpTypes, logging,
      ]),
    tests("StructureTests", ["TestRepository"]),
  ]
)
