internal import Campaigns
internal import Channels
internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
internal import PushRules
internal import Reactors
internal import Settings

// Whether those whom the service calls can be reached, and take what it has: all but the database and APNs.
extension ServiceExamination {
  /// As long as a connection anywhere takes, and as the service waits.
  private static let limit = Duration.seconds(5)

  /// Whether the host's webhook can be reached.
  func receiver(_ events: EventSettings, on reactor: isolated Reactor) async -> Judgement {
    let receiver = HostEventReceiver(HostEventConfiguration(events), on: reactor)
    defer { receiver.close(on: reactor) }
    return .receiver(await receiver.probe(within: Self.limit, on: reactor))
  }

  /// Whether the keys of clients' tokens are available.
  func keySet(on reactor: isolated Reactor) async -> Judgement {
    guard let callers = settings.callers else { return .skipped("the settings of callers cannot be used") }
    guard let url = callers.keySetURL else { return .skipped("JWKS_URL is not set") }
    var configuration = HTTPTransferConfiguration()
    if let certificates = callers.keySetCertificates { configuration.trust = .only(certificates) }
    let client = HTTPTransferClient(configuration, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: url.exposed, fields: [.accept: "application/json"], deadline: Self.limit, bodyBytesMax: 256 * 1024)
      let response = try await client.send(request, on: reactor)
      return .keySet(status: response.status.code, response.body)
    } catch {
      return .failure(
        "the key set cannot be fetched: \(error.debugDescription)",
        remedy: "see whether JWKS_URL and JWKS_CA_FILE are right and the host can be reached from here")
    }
  }

  /// Whether the language model that writes for campaigns can be reached and takes the key: asks for the list of models, which costs
  /// no tokens.
  func languageModel(on reactor: isolated Reactor) async -> Judgement {
    guard let campaigns = settings.campaigns else { return .skipped("the settings of campaigns cannot be used") }
    guard campaigns.isEnabled else { return .campaignsOff }
    guard let key = campaigns.modelKey else {
      return .warning(
        "LANGUAGE_MODEL_KEY is not set: only templates are sent", remedy: "set LANGUAGE_MODEL_KEY, unless that is meant"
      )
    }
    var configuration = LanguageModelConfiguration(
      campaigns.modelProvider == .anthropic ? .anthropicMessages : .openAICompatible,
      baseURL: campaigns.modelURL?.exposed, key: key)
    configuration.deadline = Self.limit
    if let certificates = campaigns.modelCertificates { configuration.trust = .only(certificates) }
    do throws(HTTPTransferError) {
      return .languageModel(status: try await configuration.statusOfModels(on: reactor))
    } catch {
      return .languageModel(error)
    }
  }
}

extension Judgement {
  init(_ finding: ChannelFinding) {
    switch finding {
    case .ok(let found): self = .ok(found)
    case .warning(let found): self = .warning(found)
    case .failure(let found, let remedy): self = .failure(found, remedy: remedy)
    }
  }

  static func receiver(_ answer: Result<Int, HTTPTransferError>) -> Judgement {
    switch answer {
    case .success(let status): .ok("it can be reached, and answers \(status) to a GET without a signature")
    case .failure(let error):
      .failure(
        "it cannot be reached: \(error.debugDescription)",
        remedy: "see whether this host may connect to the one in EVENTS_URL, and whether it runs")
    }
  }

  static func keySet(status: Int, _ body: [UInt8]) -> Judgement {
    struct Document: Decodable {
      struct Key: Decodable {
        let kty: String
      }

      let keys: [Key]
    }
    guard status == 200 else { return .failure("the answer is status \(status)", remedy: "correct JWKS_URL") }
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(body)) else {
      return .failure("the answer is no key set", remedy: "correct JWKS_URL")
    }
    guard !document.keys.isEmpty else {
      return .failure("the key set has no key", remedy: "add an asymmetric signing key where clients log in")
    }
    let types = document.keys.map { $0.kty.prefix(8).filter { $0.isASCII && ($0.isLetter || $0.isNumber) } }
    return .ok("\(document.keys.count) keys (\(Set(types).sorted().joined(separator: ", ")))")
  }

  static func languageModel(_ error: HTTPTransferError) -> Judgement {
    .failure(
      "it cannot be reached: \(error.debugDescription)",
      remedy:
        "see whether LANGUAGE_MODEL_URL and LANGUAGE_MODEL_CA_FILE are right and the host can be reached from here")
  }

  /// Compatible servers need not have a list; that they answer at all is what is asked of them.
  static func languageModel(status: Int) -> Judgement {
    switch status {
    case 401, 403: .failure("the key is refused (\(status))", remedy: "correct LANGUAGE_MODEL_KEY")
    case 200..<300: .ok("it answers, and takes the key")
    case 429, 500...:
      .warning("it answers with status \(status)", remedy: "see whether its provider reports an outage")
    default: .ok("it answers, and has no list of models (\(status))")
    }
  }
}
