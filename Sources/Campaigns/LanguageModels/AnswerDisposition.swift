internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes

/// What an answer of a provider amounts to.
enum AnswerDisposition {
  /// A reply.
  case reply(text: String, usage: LanguageModelUsage?)
  /// No reply, and no use in asking again.
  case failure(LanguageModelError)
  /// No reply, but one may be had after so long.
  case retry(after: Duration, LanguageModelError)

  /// Reads an answer.
  /// - Parameter now: Unix seconds.
  init(_ response: HTTPTransferResponse, _ dialect: any ModelDialect.Type, now: Double) {
    guard response.status.kind == .successful else {
      let error = Self.refusal(response, dialect)
      let advice = RetryAdvice(status: response.status.code, response.fields, now: now)
      self = advice.map { .retry(after: $0.wait, error) } ?? .failure(error)
      return
    }
    do {
      self.init(try dialect.answer(Data(response.body)), status: response.status.code)
    } catch {
      self = .failure(LanguageModelError(.unusableReply, status: response.status.code))
    }
  }

  private init(_ answer: ModelAnswer, status: Int) {
    let code: LanguageModelError.Code? =
      switch answer.ending {
      case .cutOff: .truncatedReply
      case .declined: .declined
      case .complete: answer.text.allSatisfy(\.isWhitespace) ? .unusableReply : nil
      }
    self =
      code.map { .failure(LanguageModelError($0, status: status, usage: answer.usage)) }
      ?? .reply(text: answer.text, usage: answer.usage)
  }

  private static func refusal(
    _ response: HTTPTransferResponse, _ dialect: any ModelDialect.Type
  ) -> LanguageModelError {
    let type = dialect.failureType(Data(response.body)).flatMap { $0.wholeMatch(of: /[a-z_]{1,64}/) == nil ? nil : $0 }
    return LanguageModelError(code(of: response.status.code), status: response.status.code, providerType: type)
  }

  private static func code(of status: Int) -> LanguageModelError.Code {
    switch status {
    case 429: .rateLimited
    case 503, 529: .overloaded
    case 500...: .serverFailure
    case 400...: .refusedRequest
    default: .unusableReply
    }
  }
}
