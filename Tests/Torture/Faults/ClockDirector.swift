import Control
import Foundation
import Mirroring

/// Sets the clocks of workers wrong, and right again.
actor ClockDirector {
    private let clock: AcceleratedClock
    private let folder: RunFolder
    private var current: (jump: ClockJump, setting: ClockSetting, start: Date)?
    /// The stretches that are over.
    private(set) var stretches: [WrongClock] = []

    init(clock: AcceleratedClock, folder: RunFolder) {
        self.clock = clock
        self.folder = folder
    }

    /// Sets the clock of an episode's first worker; if it is to be set right again, that is done
    /// when this returns.
    func happen(_ jump: ClockJump, inEpisode episode: Int) async {
        let setting = ClockSetting(path: folder.clock(ofEpisode: episode))
        let start = clock.now
        guard (try? setting.set(to: jump.seconds)) != nil else { return }
        current = (jump, setting, start)
        guard let lasting = jump.lasting, await Pause.wait(seconds: lasting) else { return }
        mend()
    }

    /// The worker has ended, or its clock is set right.
    func mend() {
        guard let (jump, setting, start) = current else { return }
        try? setting.set(to: 0)
        stretches.append(
            WrongClock(seconds: jump.seconds, interval: DateInterval(start: start, end: clock.now)))
        current = nil
    }
}
