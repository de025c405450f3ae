import HTTP1
import HTTPTypes
import PushRules
import Reactors
import Synchronization
import TestLogs
import Testing

@testable import Campaigns

@Suite("What language models are asked", .timeLimit(.minutes(5)))
struct RequestShapeTests {
  private struct Seen: Sendable {
    var path = ""
    var fields = HTTPFields()
    var body = ""
  }

  /// The one request that a call makes to a server that answers nothing of use.
  private func request(
    _ provider: LanguageModelProvider, base: String = "", key: String? = "k-1",
    _ prompt: ModelPrompt = ModelRig.prompt
  ) async throws -> Seen {
    let seen = Mutex(Seen())
    let group = try ReactorGroup(count: 1)
    let reactor = group.reactors[0]
    var routes = HTTPRoutes()
    for path in ["/v1/messages", "/chat/completions", "/proxy/v1/chat/completions", "/proxy/v1/messages"] {
      routes.add(.post, path) { request, _ in
        seen.withLock {
          $0 = Seen(
            path: path, fields: request.head.fields, body: String(decoding: request.body, as: UTF8.self))
        }
        return HTTPServerResponse(status: .noContent)
      }
    }
    let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
    let service = try await HTTPService.start(routes, on: address, reactors: [reactor], logger: RunLogs.logger)
    var configuration = LanguageModelConfiguration(
      provider, baseURL: "http://\(service.address)\(base)", key: key.map { Secret($0) })
    configuration.deadline = .seconds(20)
    let client = try await reactor.perform { [configuration] reactor in
      ReactorBound(LanguageModelClient(configuration, on: reactor), on: reactor)
    }
    await client.perform { client, reactor in
      _ = await client.reply(to: prompt, on: reactor)
      client.close(on: reactor)
    }
    _ = await service.drain(within: .seconds(5))
    await group.stop()
    return seen.withLock { $0 }
  }

  @Test("Anthropic's Messages")
  func messages() async throws {
    let seen = try await request(.anthropicMessages)
    #expect(seen.path == "/v1/messages")
    #expect(seen.fields[.xAPIKey] == "k-1")
    #expect(seen.fields[.anthropicVersion] == "2023-06-01")
    #expect(seen.fields[.contentType] == "application/json")
    #expect(seen.fields[.userAgent] == "tacet")
    #expect(seen.fields[.authorization] == nil)
    #expect(
      seen.body == #"{"max_tokens":150,"messages":[{"content":"The presentation of Ada.","role":"user"}],"#
        + #""model":"claude-haiku-4-5-20251001","stream":false,"system":"Be brief and warm."}"#)
  }

  @Test("OpenAI's chat completions")
  func completions() async throws {
    let seen = try await request(.openAICompatible)
    #expect(seen.path == "/chat/completions")
    #expect(seen.fields[.authorization] == "Bearer k-1")
    #expect(seen.fields[.contentType] == "application/json")
    #expect(seen.fields[.xAPIKey] == nil)
    #expect(
      seen.body == #"{"max_tokens":150,"messages":[{"content":"Be brief and warm.","role":"system"},"#
        + #"{"content":"The presentation of Ada.","role":"user"}],"model":"claude-haiku-4-5-20251001","stream":false}"#)
  }

  @Test("without instructions there is no system prompt, and any text is escaped")
  func material() async throws {
    let prompt = ModelPrompt(instructions: "", material: "\"a\"\n/é\u{1}")
    let message = #"{"content":"\"a\"\n/é\u0001","role":"user"}"#
    let rest = #""model":"claude-haiku-4-5-20251001","stream":false}"#
    let expected = "{\"max_tokens\":150,\"messages\":[\(message)],\(rest)"
    for provider in LanguageModelProvider.allCases {
      #expect(try await request(provider, prompt).body == expected)
    }
  }

  @Test("the path follows the base, whatever it ends with", arguments: ["/proxy/v1", "/proxy/v1/", "/proxy/v1//"])
  func base(_ base: String) async throws {
    #expect(try await request(.openAICompatible, base: base).path == "/proxy/v1/chat/completions")
    let proxy = base.replacing("/v1", with: "")
    #expect(try await request(.anthropicMessages, base: proxy).path == "/proxy/v1/messages")
  }

  @Test("without a key none is shown")
  func keyless() async throws {
    for provider in LanguageModelProvider.allCases {
      let seen = try await request(provider, key: nil)
      #expect(!seen.path.isEmpty)
      #expect(seen.fields[.authorization] == nil)
      #expect(seen.fields[.xAPIKey] == nil)
    }
  }

  @Test("the providers' own bases are what their libraries have")
  func bases() {
    #expect(LanguageModelConfiguration(.anthropicMessages).url == "https://api.anthropic.com/v1/messages")
    #expect(LanguageModelConfiguration(.openAICompatible).url == "https://api.openai.com/v1/chat/completions")
  }
}

extension HTTPField.Name {
  fileprivate static let xAPIKey = HTTPField.Name("x-api-key")!
  fileprivate static let anthropicVersion = HTTPField.Name("anthropic-version")!
}
