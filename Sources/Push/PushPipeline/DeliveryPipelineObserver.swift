public import APNSCore
public import Reactors

/// Told, on the pipeline's reactor, of what concerns other parts of the process. Must not block.
public protocol DeliveryPipelineObserver: AnyObject {
  /// A claim came back full: other reactors may help.
  func pipelineFoundMore(on reactor: isolated Reactor)

  /// The pipeline began or ended to poll fast enough that nobody needs to notify it.
  func pipelineBusyChanged(_ isBusy: Bool, on reactor: isolated Reactor)

  /// APNs refuses a route's pushes for a credential or a setting: those of other reactors would be refused as well.
  func pipelineStopped(_ route: PushRoute, because reason: String?, on reactor: isolated Reactor)

  /// The pipeline would know what a commit that notifies takes now.
  func pipelineAsksForNotifyCost(on reactor: isolated Reactor)
}
