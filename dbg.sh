mount -t tmpfs tmpfs /dev/shm
export TMPDIR=/tmp/rk/t3; mkdir -p $TMPDIR
python /tmp/rk/prog.py 1000000 "10 minutes" > /tmp/rk/dbg.out 2>&1 &
P=$!
for i in $(seq 1 60); do sleep 0.1; ls -i /dev/shm | grep mpich > /tmp/rk/now; [ -s /tmp/rk/now ] && break; done
echo "seen after $i: $(cat /tmp/rk/now)"; kill -KILL $P; 
for i in $(seq 1 35); do sleep 0.1; echo "$i: $(ls -i /dev/shm | grep mpich) $(pgrep -f silosim- | wc -l)"; done | uniq -f1 | head -20
