internal import HTTPTransfers
internal import HTTPTypes
public import Reactors

extension LanguageModelConfiguration {
  /// More than any provider's list of models has on a page.
  private static let listBytesMax = 1024 * 1024

  /// Asks for the provider's list of models, which costs nothing and needs the key.
  /// - Returns: the answer's status.
  /// - Throws: when there is no answer.
  public func statusOfModels(on reactor: isolated Reactor) async throws(LanguageModelError) -> Int {
    let client = HTTPTransferClient(transfers, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: base + provider.modelsPath, fields: provider.dialect.fields(key: key), deadline: deadline,
        bodyBytesMax: Self.listBytesMax)
      return try await client.send(request, on: reactor).status.code
    } catch {
      throw LanguageModelError(error)
    }
  }
}
