import Foundation
import UnixSignals

/// The signals that end a command: an interrupt, a termination request, and the loss of its
/// terminal.
enum EndingSignals {
    /// The signals that a command traps to end gracefully.
    ///
    /// SIGHUP is not among them if it was ignored when the process was started, as `nohup` does.
    static let trapped: [UnixSignal] = {
        let signals: [UnixSignal] = [.sigint, .sigterm]
        return disposition(of: SIGHUP) == .ignored ? signals : signals + [.sighup]
    }()

    /// The response of the process to a signal.
    enum Disposition {
        case standard
        case ignored
        case handled
    }

    static func disposition(of signal: Int32) -> Disposition {
        var action = sigaction()
        sigaction(signal, nil, &action)
        #if canImport(Glibc)
            let handler = action.__sigaction_handler.sa_handler
        #else
            let handler = action.__sigaction_u.__sa_handler
        #endif
        // Functions cannot be compared; SIG_DFL and SIG_IGN are the numbers 0 and 1.
        switch unsafeBitCast(handler, to: Int.self) {
        case unsafeBitCast(SIG_DFL, to: Int.self): return .standard
        case unsafeBitCast(SIG_IGN, to: Int.self): return .ignored
        default: return .handled
        }
    }
}

/// Restores the settings of the terminal before a signal ends the process.
///
/// Without this the person's shell would not echo their input.
enum EchoRestoration {
    private static let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
    /// The settings to restore; allocated once, because a handler must not allocate.
    nonisolated(unsafe) private static let settings = UnsafeMutablePointer<termios>.allocate(
        capacity: 1)

    /// Installs handlers for the signals that would end the process, until `end(_:)` is called with
    /// the result.
    ///
    /// Signals that are ignored or handled are left alone.
    ///
    /// - Parameter original: The settings to restore.
    /// - Returns: The signals with an installed handler.
    static func begin(_ original: termios) -> [Int32] {
        settings.initialize(to: original)
        let unhandledSignals = signals.filter { EndingSignals.disposition(of: $0) == .standard }
        for number in unhandledSignals { signal(number, restoreAndEnd) }
        return unhandledSignals
    }

    static func end(_ signals: [Int32]) {
        for number in signals { signal(number, SIG_DFL) }
    }

    /// The signal handler, which calls only functions that signal-safety(7) allows.
    private static let restoreAndEnd: @convention(c) (Int32) -> Void = { number in
        // While the process is in the background, the terminal has the shell's settings, and
        // changing them would stop the process.
        let group = tcgetpgrp(STDIN_FILENO)
        if group < 0 || group == getpgrp() {
            tcsetattr(STDIN_FILENO, TCSANOW, settings)
            // The unread rest of a secret must not become a command of the shell.
            tcflush(STDIN_FILENO, TCIFLUSH)
            var lineBreak: UInt8 = 0x0A
            _ = write(STDERR_FILENO, &lineBreak, 1)
        }
        signal(number, SIG_DFL)
        raise(number)
    }
}
